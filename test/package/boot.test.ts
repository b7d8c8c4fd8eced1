import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  copyFileSync,
  existsSync,
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
import { parse, stringify } from "yaml";
import { sbomProblems } from "../../packaging/check-sbom.mjs";
import { versionOf } from "../../packaging/version.mjs";
import { layArm64, startOnArm64 } from "./arm64.ts";
import {
  ansible,
  type Booted,
  boot,
  bootPrograms,
  layDebian,
  layForKills,
  layForUpgrades,
  makeNextVersions,
  ownRelease,
  run,
} from "./debian-root.ts";
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
const upgradesRoot = join(work, "upgrades");
const killsRoot = join(work, "kills");
const trixie = join(work, "trixie");
const unpacked = join(work, "next");
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Makes the packages of the checkout in `folder`. @returns their paths */
async function pack(folder: string, name: string, before = "", arch = "amd64"): Promise<readonly string[]> {
  const out = join(work, name);
  const program = `cd ${folder} && ${before} exec ${process.execPath} packaging/package.mjs --arch ${arch} --out ${out}`;
  await run("sh", ["-c", program], { env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" } });
  return readdirSync(out)
    .sort()
    .map((file) => join(out, file));
}

/** Builds and packs the same commit in another folder, and under another umask. */
async function packElsewhere(): Promise<readonly string[]> {
  // Beside this one, since hard links stay on one file system.
  const folder = mkdtempSync(join(process.cwd(), "../fleetgate-again-"));
  try {
    await run("git", ["clone", "--quiet", "--shared", ".", folder]);
    await linkTo(folder, "node_modules", (name) => name !== ".cache");
    await linkTo(folder, "node_modules/.cache/packages", (name) => !name.startsWith("fetch-"));
    return await pack(folder, "again", `umask 077 && ${process.execPath} scripts/build.mjs &&`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Hard links of what a folder has. What another build is downloading may vanish meanwhile. */
async function linkTo(target: string, folder: string, isWanted: (name: string) => boolean): Promise<void> {
  mkdirSync(join(target, folder), { recursive: true });
  const names = existsSync(folder) ? readdirSync(folder).filter(isWanted) : [];
  const paths = names.map((name) => join(folder, name));
  if (paths.length > 0) await run("cp", ["-al", ...paths, join(target, folder)]);
}

const hashOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

async function lintian(deb: string): Promise<string> {
  const ended = await run("lintian", ["--fail-on", "error", "--tag-display-limit", "0", deb], {
    maxBuffer: 64_000_000,
  }).catch((error: { stdout: string }) => error);
  return ended.stdout;
}

/** The steps of a script, in order. */
function stepsOf(script: string): readonly string[] {
  const text = readFileSync(join("test/package", script), "utf8");
  const [, list = ""] = /^for name in ((?:[^;]|\n)+);/m.exec(text) ?? [];
  return list.split(/[\s\\]+/);
}

/** What the script printed in this step; the whole log where it did not come so far. */
function logOf(name: string, log: string): string {
  const [, own] = log.split(`=== ${name}\n`);
  return own === undefined ? log : (own.split(/^=== /m)[0] ?? "");
}

/** Upgrades on the next Debian too: there and back, and back from a version that fails. */
const stepsOnTrixie = ["two_gateways", "unattended", "a_program_that_throws", "down_again"] as const;

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
  let booted: Booted;
  let upgraded: Booted;
  let killed: Booted;
  let upgradedOnTrixie: Booted;
  let lintianSaid = "";
  let image: Image;
  let saidOnArm64 = "";
  const arm64 = join(work, "arm64");
  let forArm: readonly string[] = [];
  const debForArm = () => forArm.find((path) => path.endsWith(".deb")) ?? "";
  let version = "";
  beforeAll(async () => {
    version = versionOf(".").version;
    [made, again, forArm] = await Promise.all([
      pack(".", "made"),
      packElsewhere(),
      pack(".", "made-for-arm", "", "arm64"),
      layDebian(root, ownRelease(), ansible),
      layDebian(trixie, "trixie"),
      layArm64(arm64),
    ]);
    deb = made?.find((path) => path.endsWith(".deb")) ?? "";
    for (const copy of [upgradesRoot, killsRoot]) await run("cp", ["-a", root, copy]);
    for (const path of made ?? []) copyFileSync(path, join(root, "boot-test", basename(path)));
    const tarball = made?.find((path) => path.endsWith(".tar.gz")) ?? "";
    const [next, its] = await Promise.all([
      makeNextVersions(deb, unpacked, work),
      // On the smallest of them: it is copied several times.
      makeImage(join(work, "image"), trixie, tarball, version),
    ]);
    image = its;
    const versions = [deb, ...next];
    layForUpgrades(upgradesRoot, versions, null);
    layForUpgrades(trixie, versions, stepsOnTrixie);
    layForKills(killsRoot, deb);
    const onArm64 = join(work, "on-arm64");
    mkdirSync(onArm64);
    // Two at a time: more would make a small machine no faster, and the figures less true.
    // The upgrades measure how long nobody answers, so they do not run beside each other.
    const bootInTurn = async (one: string, other: string): Promise<readonly [Booted, Booted]> => {
      const first = await boot(one);
      return [first, await boot(other)];
    };
    [[booted, killed], [upgraded, upgradedOnTrixie], lintianSaid, saidOnArm64] = await Promise.all([
      bootInTurn(root, killsRoot),
      bootInTurn(upgradesRoot, trixie),
      lintian(deb),
      startOnArm64(onArm64, arm64, debForArm()).catch(String),
    ]);
    const all = Object.entries({
      installed: booted,
      upgraded,
      killed,
      "upgraded, Debian 13": upgradedOnTrixie,
    });
    for (const [what, { figures }] of all) process.stderr.write(`${what}:\n${figures}`);
  });
  afterAll(() => image?.remove());

  test("two builds in two folders are the same, byte by byte", () => {
    expect(made?.map((path) => basename(path))).toEqual([
      "SHA256SUMS",
      `fleetgate-${version}-linux-amd64.cdx.json`,
      `fleetgate-${version}-linux-amd64.openvex.json`,
      `fleetgate-${version}-linux-amd64.tar.gz`,
      `fleetgate_${version}_amd64.deb`,
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

  test("it says what it contains, by BSI TR-03183-2 and with every licence", () => {
    const tree = join(work, "next/usr/lib/fleetgate");
    const sbom: { readonly components: readonly { readonly name: string }[] } = JSON.parse(
      readFileSync(join(tree, "sbom.cdx.json"), "utf8"),
    );
    expect(sbomProblems(sbom, tree)).toEqual([]);
    const names = sbom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Node.js", "openssl", "nghttp2", "LMDB", "lmdb", "mqtt"]));
    const vex = JSON.parse(readFileSync(join(tree, "vex.openvex.json"), "utf8"));
    expect(vex).toMatchObject({ "@context": "https://openvex.dev/ns/v0.2.0", version: 1 });
  });

  test("the package for ARM is small too, and starts", () => {
    expect(statSync(debForArm()).size).toBeLessThan(MOST_DEB_BYTES);
    expect(saidOnArm64).toMatch(/"msg":"ready"/);
  });

  const passed = (name: string, { results, log }: Booted) => {
    const found = results.split("\n").find((line) => line.endsWith(` ${name}`));
    expect(found, logOf(name, log)).toBe(`passed ${name}`);
  };
  test.each(stepsOf("in-container.sh"))("on a booted Debian: %s", (name) => passed(name, booted));
  test.each(stepsOf("upgrades.sh"))("upgrades on a booted Debian: %s", (name) => passed(name, upgraded));
  test.each(stepsOf("killed-upgrades.sh"))("killed on a booted Debian: %s", (name) => passed(name, killed));
  test.each(stepsOnTrixie)("upgrades on a booted Debian 13: %s", (name) => passed(name, upgradedOnTrixie));

  test("init makes a configuration in a container", async () => {
    const etc = join(work, "made-by-init");
    mkdirSync(etc);
    writeFileSync(join(etc, "api-key.json"), JSON.stringify({ api_key: "key", secret: "s", scope: "fleet" }));
    // The image's user, as the page tells to do.
    for (const path of [etc, join(etc, "api-key.json")]) chownSync(path, 1000, 1000);
    const answers =
      "--id plant1 --fleet 127.0.0.1:9 --api-key /etc/fleetgate/api-key.json --locations hall-1";
    const init = `init --config /etc/fleetgate/fleetgate.yaml --opcua on ${answers}`.split(" ");
    const asking = image.run([`${etc}:/etc/fleetgate`], [...image.config.Entrypoint, ...init]);
    const [said, [code]] = await Promise.all([text(asking.stderr), once(asking, "close")]);
    expect(code, said).toBe(0);
    expect(parse(readFileSync(join(etc, "fleetgate.yaml"), "utf8"))).toMatchObject({
      gateway: { id: "plant1" },
    });
  });

  test("the image starts, is healthy without its fleet service, and stops in order", async () => {
    expect(image.config).toMatchObject({
      User: "fleetgate",
      StopSignal: "SIGTERM",
      Volumes: { "/var/lib/fleetgate": {} },
      Labels: { "org.opencontainers.image.version": version },
    });
    const { services } = parse(readFileSync("compose.yaml", "utf8"));
    expect(services.fleetgate).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      stop_grace_period: "30s",
      // on-failure would leave it stopped after a restart of the machine.
      restart: "unless-stopped",
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
