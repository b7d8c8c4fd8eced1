import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { makeAptRepository, writeSums } from "../../packaging/apt-repository.mjs";

const run = promisify(execFile);
const programs = ["apt-get", "dpkg-deb", "dpkg-scanpackages", "gpg"];
const missing = programs.filter((name) => spawnSync("which", [name]).status !== 0);
if (process.env.CI && missing.length > 0)
  throw new Error(`CI must try the repository: ${missing.join(", ")} missing`);
if (missing.length > 0) process.stderr.write(`no repository is tried here: ${missing.join(", ")} missing\n`);

const KEY = "test@fleetgate.invalid";

describe.runIf(missing.length === 0)("the apt repository", () => {
  const work = mkdtempSync(join(tmpdir(), "fleetgate-apt-"));
  const apt = join(work, "out/apt");
  const before = process.env.GNUPGHOME;
  beforeAll(async () => {
    process.env.GNUPGHOME = join(work, "gnupg");
    mkdirSync(process.env.GNUPGHOME, { mode: 0o700 });
    await run("gpg", [
      "--batch",
      "--passphrase",
      "",
      "--quick-generate-key",
      KEY,
      "ed25519",
      "sign",
      "never",
    ]);
    mkdirSync(join(work, "out"));
    for (const [version, arch] of [
      ["0.1.0+0.changed", "amd64"],
      ["0.1.0+1.gdef", "amd64"],
      ["0.1.0+1.gdef", "arm64"],
      ["0.1.0", "amd64"],
      ["0.1.0", "arm64"],
    ] as const)
      await makeDeb(version, arch);
    publish("0.1.0+1.gdef");
  });
  afterAll(() => {
    spawnSync("gpgconf", ["--kill", "all"]);
    if (before === undefined) delete process.env.GNUPGHOME;
    else process.env.GNUPGHOME = before;
    rmSync(work, { recursive: true, force: true });
  });

  function publish(version: string): void {
    writeSums(join(work, "out"), { version, key: KEY });
    makeAptRepository(join(work, "out"), { version, key: KEY });
  }

  async function makeDeb(version: string, arch: string): Promise<void> {
    const stage = join(work, "stage");
    mkdirSync(join(stage, "DEBIAN"), { recursive: true });
    const fields = {
      Package: "fleetgate",
      Version: version,
      Architecture: arch,
      Maintainer: KEY,
      Description: "-",
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
    writeFileSync(join(stage, "DEBIAN/control"), lines.join(""));
    const deb = join(work, "out", `fleetgate_${version}_${arch}.deb`);
    await run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", stage, deb]);
  }

  /** A machine's apt, with this repository alone. */
  async function aptOf(name: string, uri: string, folder: string) {
    const root = join(work, name);
    for (const path of ["lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"])
      mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, "status"), "");
    writeFileSync(
      join(root, "etc/fleetgate.sources"),
      `Types: deb\nURIs: ${uri}\nSuites: stable\nComponents: main\nSigned-By: ${join(folder, "fleetgate.asc")}\n`,
    );
    const options = [
      ["Dir::Etc::sourcelist", join(root, "etc/fleetgate.sources")],
      ["Dir::Etc::sourceparts", "-"],
      ["Dir::Etc::parts", join(root, "etc/apt.conf.d")],
      ["Dir::State::lists", join(root, "lists")],
      ["Dir::State::status", join(root, "status")],
      ["Dir::Cache", join(root, "cache")],
      ["APT::Architecture", "amd64"],
      ["APT::Architectures::", "amd64"],
      ["APT::Sandbox::User", "root"],
      ["Acquire::Languages", "none"],
      ["Acquire::http::Proxy", "false"],
      ["APT::Update::Error-Mode", "any"],
    ].flatMap(([key, value]) => ["-o", `${key}=${value}`]);
    return (...args: readonly string[]) => run("apt-get", [...options, ...args], { cwd: root });
  }

  test("is made of the packages of one version, whose signed sums stand beside them", async () => {
    expect(readdirSync(join(apt, "pool/main/f/fleetgate")).sort()).toEqual([
      "fleetgate_0.1.0+1.gdef_amd64.deb",
      "fleetgate_0.1.0+1.gdef_arm64.deb",
    ]);
    const packages = readFileSync(join(apt, "dists/stable/main/binary-arm64/Packages"), "utf8");
    expect(packages.match(/^Architecture: .*/gm)).toEqual(["Architecture: arm64"]);
    const cwd = join(work, "out");
    const { stdout } = await run("sha256sum", ["--check", "SHA256SUMS"], { cwd });
    expect(stdout.match(/^.*(?=: OK$)/gm)).toEqual(readdirSync(join(apt, "pool/main/f/fleetgate")).sort());
    await run("gpg", ["--verify", "SHA256SUMS.asc", "SHA256SUMS"], { cwd });
  });

  test("without a key no signature of another build stays", () => {
    const folder = join(work, "without-key");
    mkdirSync(folder);
    writeFileSync(join(folder, "SHA256SUMS.asc"), "of before");
    writeSums(folder, { version: "0.1.0" });
    expect(readdirSync(folder)).toEqual(["SHA256SUMS"]);
  });

  test("installs from a stick", async () => {
    const stick = join(work, "stick");
    cpSync(apt, stick, { recursive: true });
    const get = await aptOf("offline", `file:${stick}`, stick);
    await get("update");
    const { stdout } = await get("install", "--simulate", "fleetgate");
    expect(stdout).toContain("Inst fleetgate (0.1.0+1.gdef Fleetgate:stable [amd64])");
  });

  test("is served by any web server", async () => {
    const server = createServer((request, response) => {
      const path = join(apt, decodeURIComponent(request.url ?? ""));
      try {
        response.end(readFileSync(path));
      } catch {
        response.writeHead(404).end();
      }
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const get = await aptOf("online", `http://127.0.0.1:${address.port}`, apt);
    await get("update");
    await get("download", "fleetgate");
    expect(readdirSync(join(work, "online"))).toContain("fleetgate_0.1.0+1.gdef_amd64.deb");
  });

  test("shows an older version that is published again", async () => {
    const get = await aptOf("again", `file:${apt}`, apt);
    await get("update");
    publish("0.1.0");
    onTestFinished(() => publish("0.1.0+1.gdef"));
    await get("update");
    const { stdout } = await get("install", "--simulate", "fleetgate");
    expect(stdout).toContain("Inst fleetgate (0.1.0 Fleetgate:stable [amd64])");
  });

  test("is refused when somebody has changed it", async () => {
    const changed = join(work, "changed");
    cpSync(apt, changed, { recursive: true });
    for (const name of ["InRelease", "Release"]) {
      const file = join(changed, "dists/stable", name);
      writeFileSync(file, readFileSync(file, "utf8").replace("Suite: stable", "Suite: oldest"));
    }
    const get = await aptOf("first", `file:${changed}`, changed);
    await expect(get("update")).rejects.toThrow(/not signed|BADSIG|invalid/i);

    cpSync(apt, changed, { recursive: true });
    appendFileSync(join(changed, "pool/main/f/fleetgate/fleetgate_0.1.0+1.gdef_amd64.deb"), "more");
    const again = await aptOf("second", `file:${changed}`, changed);
    await again("update");
    await expect(again("download", "fleetgate")).rejects.toThrow(/size|hash sum/i);
  });
});
