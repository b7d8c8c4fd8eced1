import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { stringify } from "yaml";
import { boot, bootPrograms, layDebian, run } from "./debian-root.ts";
import { type Image, innermostOf, lineOf, makeImage } from "./image.ts";

vi.setConfig({ testTimeout: 10 * 60_000, hookTimeout: 40 * 60_000 });

const missing = bootPrograms.filter((name) => spawnSync("which", [name]).status !== 0);
const reasons = [
  ...(missing.length > 0 ? [`${missing.join(", ")} missing`] : []),
  ...(process.getuid?.() === 0 ? [] : ["not root"]),
];
if (process.env.CI && reasons.length > 0) throw new Error(`CI must boot the package: ${reasons.join(", ")}`);
// Minutes, and root.
const mayBoot = process.env.CI !== undefined && reasons.length === 0;
if (!mayBoot) process.stderr.write("the package is not made and booted here: CI=true does it\n");

const work = mkdtempSync(join(tmpdir(), "fleetgate-boot-"));
const root = join(work, "root");
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Builds the packages, under a umask of its own. @returns their paths */
async function build(name: string, umask: string): Promise<readonly string[]> {
  const out = join(work, name);
  const program = `umask ${umask} && exec ${process.execPath} packaging/package.mjs --out ${out}`;
  await run("sh", ["-c", program], { env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" } });
  return readdirSync(out)
    .sort()
    .map((file) => join(out, file));
}

const hashOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: unknown;
}

interface Sbom {
  readonly components: readonly Component[];
}

/** The same package with a higher version, as the next release would be. */
async function makeNext(deb: string, folder: string): Promise<void> {
  const unpacked = join(work, "next");
  await run("dpkg-deb", ["--raw-extract", deb, unpacked]);
  const control = join(unpacked, "DEBIAN/control");
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*$/m, "$&+next"));
  await run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", unpacked, folder]);
}

async function lintian(deb: string): Promise<string> {
  const ended = await run("lintian", ["--fail-on", "error", "--tag-display-limit", "0", deb], {
    maxBuffer: 64_000_000,
  }).catch((error: { stdout: string }) => error);
  return ended.stdout;
}

/** The steps of the script, in order. */
const [, list = ""] =
  /^for name in ((?:[^;]|\n)+);/m.exec(readFileSync("test/package/in-container.sh", "utf8")) ?? [];
const steps = list.split(/[\s\\]+/);

/** What the script printed in this step; the whole log where it did not come so far. */
function logOf(name: string, log: string): string {
  const [, own] = log.split(`=== ${name}\n`);
  return own === undefined ? log : (own.split(/^=== /m)[0] ?? "");
}

const MOST_DEB_BYTES = 40_000_000;
const MOST_INSTALLED_KIB = 190_000;

/** `docker stop` kills it after that. */
const STOPS_WITHIN_MS = 10_000;
/** A gateway whose fleet service is not there. */
const nowhere = {
  gateway: { id: "plant1" },
  fleet: {
    grpc: { address: "127.0.0.1:9" },
    https: "https://127.0.0.1:9",
    credentials: "api-key.json",
    locations: ["plant-1"],
  },
};

describe.runIf(mayBoot)("the package", () => {
  let [made, again]: readonly (readonly string[])[] = [];
  let deb = "";
  let booted: { readonly results: string; readonly log: string };
  let lintianSaid = "";
  let image: Image;
  beforeAll(async () => {
    [made, again] = await Promise.all([build("made", "022"), build("again", "077"), layDebian(root)]);
    deb = made?.find((path) => path.endsWith(".deb")) ?? "";
    for (const path of made ?? []) copyFileSync(path, join(root, "boot-test", basename(path)));
    await makeNext(deb, join(root, "boot-test/next", basename(deb)));
    const tarball = made?.find((path) => path.endsWith(".tar.gz")) ?? "";
    image = await makeImage(join(work, "image"), root, tarball);
    [booted, lintianSaid] = await Promise.all([boot(root), lintian(deb)]);
  });
  afterAll(() => image?.remove());

  test("two builds are the same, byte by byte", () => {
    expect(made?.map((path) => basename(path))).toEqual([
      expect.stringMatching(/^fleetgate-[\d.]+-linux-amd64\.tar\.gz$/),
      expect.stringMatching(/^fleetgate_[\d.]+_amd64\.deb$/),
    ]);
    expect(again?.map(hashOf)).toEqual(made?.map(hashOf));
  });

  test("lintian finds no error, and each override is used", () => {
    expect(
      lintianSaid.split("\n").filter((line) => /^E:|unused-override|mismatched-override/.test(line)),
    ).toEqual([]);
  });

  test("it is small", async () => {
    expect(statSync(deb).size).toBeLessThan(MOST_DEB_BYTES);
    const { stdout } = await run("dpkg-deb", ["--field", deb, "Installed-Size"]);
    expect(Number(stdout)).toBeGreaterThan(90_000);
    expect(Number(stdout)).toBeLessThan(MOST_INSTALLED_KIB);
  });

  test("it says what it contains, with every licence", async () => {
    const unpacked = join(work, "next");
    const sbom: Sbom = JSON.parse(readFileSync(join(unpacked, "usr/lib/fleetgate/sbom.cdx.json"), "utf8"));
    expect(sbom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
    const named = sbom.components.map(({ name, version }) => `${name}@${version}`);
    expect(named).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Node\.js@/), expect.stringMatching(/^lmdb@/)]),
    );
    const tree = join(unpacked, "usr/lib/fleetgate");
    const manifests = readdirSync(join(tree, "node_modules"), { recursive: true, encoding: "utf8" }).filter(
      (path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(path),
    );
    expect(manifests).toEqual(
      expect.arrayContaining(["lmdb/package.json", "node-opcua-nodesets/package.json"]),
    );
    for (const path of manifests) {
      const { name, version }: Component = JSON.parse(readFileSync(join(tree, "node_modules", path), "utf8"));
      expect(named).toContain(`${name}@${version}`);
    }
    // The bundler notes where each part of a chunk comes from.
    const parts = readdirSync(join(tree, "dist"))
      .filter((name) => name.endsWith(".js"))
      .flatMap(
        (name) =>
          readFileSync(join(tree, "dist", name), "utf8").match(/^\/\/(?:#region)? node_modules\/.*$/gm) ?? [],
      );
    const bundled = new Set(parts.map((part) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(part)?.[1]));
    expect(bundled.size).toBeGreaterThan(100);
    const names = sbom.components.map(({ name }) => name);
    for (const name of bundled) expect(names).toContain(name);
    const licensed = readdirSync(join(tree, "licences"), { recursive: true, encoding: "utf8" });
    expect(licensed).toEqual(expect.arrayContaining(["mqtt/LICENSE.md", "node-opcua/LICENSE"]));
    expect(sbom.components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
  });

  test.each(steps)("on a booted Debian: %s", (name) => {
    const found = booted.results.split("\n").find((line) => line.endsWith(` ${name}`));
    expect(found, logOf(name, booted.log)).toBe(`passed ${name}`);
  });

  test("the image starts, is healthy without its fleet service, and stops in order", async () => {
    expect(image.config).toMatchObject({
      User: "fleetgate",
      StopSignal: "SIGTERM",
      Volumes: { "/var/lib/fleetgate": {} },
    });
    const etc = join(work, "etc");
    mkdirSync(etc);
    writeFileSync(join(etc, "api-key.json"), JSON.stringify({ api_key: "key", secret: "s", scope: "fleet" }));
    writeFileSync(join(etc, "fleetgate.yaml"), stringify(nowhere));
    // The state is in the container's own volume.
    const volumes = [`${etc}:/etc/fleetgate:ro`];
    const { Entrypoint, Cmd, Healthcheck } = image.config;
    const [kind, ...healthCommand] = Healthcheck.Test;
    expect(kind).toBe("CMD");
    const health = async () => {
      const asked = image.run(volumes, healthCommand);
      const [said, [code]] = await Promise.all([text(asked.stdout), once(asked, "close")]);
      return { code, said };
    };

    const gateway = image.run(volumes, [...Entrypoint, ...Cmd]);
    const ended = once(gateway, "close");
    onTestFinished(async () => {
      if (gateway.exitCode !== null) return;
      process.kill(await innermostOf(gateway), "SIGKILL");
      await ended;
    });
    await lineOf(gateway, '"msg":"ready"');
    expect(await health()).toEqual({ code: 0, said: '{"alive":true}' });
    process.kill(await innermostOf(gateway), "SIGTERM");
    const sentMs = performance.now();
    expect(await ended).toEqual([0, null]);
    expect(performance.now() - sentMs).toBeLessThan(STOPS_WITHIN_MS);
    expect(await health()).toMatchObject({ code: 1 });
  });
});
