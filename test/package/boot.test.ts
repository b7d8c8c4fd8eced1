import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { boot, bootPrograms, layDebian, run } from "./debian-root.ts";

vi.setConfig({ testTimeout: 10 * 60_000, hookTimeout: 40 * 60_000 });

const missing = bootPrograms.filter((name) => spawnSync("which", [name]).status !== 0);
const mayBoot = missing.length === 0 && process.getuid?.() === 0;
if (!mayBoot) {
  const reason = missing.length > 0 ? `${missing.join(", ")} missing` : "not root";
  if (process.env.CI) throw new Error(`CI must boot the package: ${reason}`);
  process.stderr.write(`the package is not made and booted here: ${reason}\n`);
}

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

/** The steps of the script, in order. */
const [, list = ""] =
  /^for name in ((?:[^;]|\n)+);/m.exec(readFileSync("test/package/in-container.sh", "utf8")) ?? [];
const steps = list.split(/[\s\\]+/);

const MOST_DEB_BYTES = 40_000_000;
const MOST_INSTALLED_KIB = 190_000;

describe.runIf(mayBoot)("the package", () => {
  let [made, again]: readonly (readonly string[])[] = [];
  let deb = "";
  let booted: { readonly results: string; readonly log: string };
  beforeAll(async () => {
    [made, again] = await Promise.all([build("made", "022"), build("again", "077"), layDebian(root)]);
    deb = made?.find((path) => path.endsWith(".deb")) ?? "";
    for (const path of made ?? []) copyFileSync(path, join(root, "boot-test", basename(path)));
    await makeNext(deb, join(root, "boot-test/next", basename(deb)));
    booted = await boot(root);
  });

  test("two builds are the same, byte by byte", () => {
    expect(made?.map((path) => basename(path))).toEqual([
      expect.stringMatching(/^fleetgate-[\d.]+-linux-amd64\.tar\.gz$/),
      expect.stringMatching(/^fleetgate_[\d.]+_amd64\.deb$/),
    ]);
    expect(again?.map(hashOf)).toEqual(made?.map(hashOf));
  });

  test("lintian finds no error, and each override is used", async () => {
    const ended = await run("lintian", ["--fail-on", "error", "--tag-display-limit", "0", deb], {
      maxBuffer: 64_000_000,
    }).catch((error: { stdout: string }) => error);
    expect(
      ended.stdout.split("\n").filter((line) => /^E:|unused-override|mismatched-override/.test(line)),
    ).toEqual([]);
  });

  test("it is small", async () => {
    expect(statSync(deb).size).toBeLessThan(MOST_DEB_BYTES);
    const { stdout } = await run("dpkg-deb", ["--field", deb, "Installed-Size"]);
    expect(Number(stdout)).toBeGreaterThan(100_000);
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
    const manifests = readdirSync(join(unpacked, "usr/lib/fleetgate/node_modules"), {
      recursive: true,
      encoding: "utf8",
    }).filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/.test(path));
    expect(manifests.length).toBeGreaterThan(100);
    for (const path of manifests) {
      const { name, version } = JSON.parse(
        readFileSync(join(unpacked, "usr/lib/fleetgate/node_modules", path), "utf8"),
      ) as Component;
      expect(named).toContain(`${name}@${version}`);
    }
    expect(sbom.components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
  });

  test.each(steps)("on a booted Debian: %s", (name) => {
    const found = booted.results.split("\n").find((line) => line.endsWith(` ${name}`));
    expect(found, booted.log).toBe(`passed ${name}`);
  });
});
