import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientCertificate } from "./certs/certs-harness.ts";

/** The data folder is the service's, so each name in it can be a link that the service's user has made. */
const SERVICE = 65_534;
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write("these tests are root's, and are skipped for other users\n");

let folder: string;
/** Root's, and open to nobody else. */
let outside: string;
let config: string;
const inData = (...names: readonly string[]) => join(folder, "data", ...names);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-root-links-"));
  chmodSync(folder, 0o755);
  outside = join(folder, "outside");
  mkdirSync(outside, { mode: 0o700 });
  writeFileSync(join(outside, "file"), "of root", { mode: 0o600 });
  mkdirSync(join(folder, "etc"));
  config = join(folder, "etc", "fleetgate.yaml");
  writeFileSync(join(folder, "etc", "key.json"), '{"api_key":"k","scope":"acme","secret":"s"}', {
    mode: 0o600,
  });
  writeFileSync(
    config,
    `gateway: { id: plant1, dataDir: ${inData()} }\n` +
      "fleet: { grpc: { address: fleet.example.com:443 }, authUrl: https://auth.example.com, credentials: key.json,\n" +
      "  https: https://fleet.example.com, robots: [cart-01] }\n",
  );
  mkdirSync(inData());
  for (const store of ["journal", "slots"]) {
    mkdirSync(inData(store));
    writeFileSync(inData(store, "data.mdb"), "of before");
  }
  mkdirSync(inData("opcua", "server", "rejected"), { recursive: true });
  const { pem } = await clientCertificate("scada");
  writeFileSync(inData("opcua", "server", "rejected", "scada.pem"), pem);
  giveToService(inData());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function giveToService(path: string): void {
  lchownSync(path, SERVICE, SERVICE);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveToService(join(path, name));
}

const inKey = () => inData("key.json");

/** A link in the data folder, which the service's user has made. */
function link(target: string, ...names: readonly string[]): void {
  const path = inData(...names);
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path);
  lchownSync(path, SERVICE, SERVICE);
}

function fleetgate(...args: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/main.js", ...args], {
    encoding: "utf8",
    timeout: 30_000,
  });
  return { status, said: `${stdout}${stderr}` };
}

/** Owner, mode and content of all that is below a folder. */
function stateOf(path: string): readonly string[] {
  const { uid, gid, mode } = lstatSync(path);
  const isFolder = lstatSync(path).isDirectory();
  const content = isFolder ? readdirSync(path).sort() : [];
  return [
    `${path} ${uid}:${gid} ${mode.toString(8)} ${isFolder ? "" : readFileSync(path, "utf8")}`,
    ...content.flatMap((name) => stateOf(join(path, name))),
  ];
}

/** What in the data folder is not the service's, which could then not change it. */
function notOfService(path = inData()): readonly string[] {
  const stats = lstatSync(path);
  const below = stats.isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [];
  return [...(stats.uid === SERVICE ? [] : [path]), ...below.flatMap(notOfService)];
}

function backup(): string {
  const file = join(folder, "backup.tar.gz");
  expect(fleetgate("backup", file, "--config", config)).toMatchObject({ status: 0 });
  return file;
}

describe.skipIf(!isRoot)("a link in the service's data folder leads root nowhere", () => {
  it.each([
    ["the lock", ["lock"], "folder"],
    ["the mark of a restore", ["restore-unfinished"], "file"],
    ["the folder of certificates", ["opcua"], "folder"],
    ["what a restore lays ready", ["opcua.restore"], "folder"],
    ["the journal", ["journal"], "folder"],
    ["the numbers of slots", ["slots"], "folder"],
  ] as const)("of a restore: %s", (_, names, kind) => {
    const file = backup();
    link(kind === "file" ? join(outside, "file") : outside, ...names);
    const before = stateOf(outside);
    fleetgate("restore", file, "--elsewhere");
    expect(stateOf(outside)).toEqual(before);
    expect(notOfService()).toEqual([]);
  });

  it.each([
    ["the lock", ["lock"], "folder"],
    ["the journal", ["journal"], "folder"],
    ["the draft of a mark", ["journal", "new.part"], "file"],
    ["the draft of another mark", ["slots", "lost.json.part"], "file"],
  ] as const)("of a reset: %s", (_, names, kind) => {
    link(kind === "file" ? join(outside, "file") : outside, ...names);
    const before = stateOf(outside);
    fleetgate("journal", "reset", "--discard", "--data", inData());
    expect(stateOf(outside)).toEqual(before);
    expect(notOfService()).toEqual([]);
  });

  it("of the certificates that are let in or kept out", async () => {
    const { thumbprint, pem } = await clientCertificate("other");
    writeFileSync(join(outside, "other.pem"), pem);
    link(outside, "opcua", "server", "rejected");
    const before = stateOf(outside);
    fleetgate("certs", "approve", thumbprint, "--data", inData());
    expect(stateOf(outside)).toEqual(before);
    expect(fleetgate("certs", "list", "--data", inData()).said).not.toContain(thumbprint);
  });

  it("of the gateway's own certificate", async () => {
    appendOpcua();
    mkdirSync(inData("opcua", "server", "own", "private"), { recursive: true });
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(inData("opcua", "server", "own", "private", "private_key.pem"), key);
    giveToService(inData());
    link(outside, "opcua", "server", "own", "certs");
    const before = stateOf(outside);
    expect(fleetgate("certs", "renew", "--config", config).status).not.toBe(0);
    expect(stateOf(outside)).toEqual(before);
  });

  it("of a backup: it holds nothing that the service cannot read", () => {
    link(outside, "opcua");
    const file = join(folder, "backup.tar.gz");
    fleetgate("backup", file, "--config", config);
    const held = existsSync(file) ? spawnSync("tar", ["-tzf", file], { encoding: "utf8" }).stdout : "";
    expect(held).not.toContain("opcua/file");
  });

  it.each([
    ["", inKey],
    [", and root's own link leads there", () => join(folder, "etc", "to-key.json")],
  ])("of a backup: a file of the configuration lies in the data folder%s", (_, named) => {
    renameSync(join(folder, "etc", "key.json"), join(outside, "key.json"));
    link(join(outside, "key.json"), "key.json");
    symlinkSync(inKey(), join(folder, "etc", "to-key.json"));
    writeFileSync(config, readFileSync(config, "utf8").replace("key.json", named()));
    const file = join(folder, "backup.tar.gz");
    expect(fleetgate("backup", file, "--config", config).said).toContain(
      `${named()} cannot be read by the user that the gateway runs as`,
    );
    expect(existsSync(file)).toBe(false);
  });

  it("of a folder on the way, which the service can replace", () => {
    const deep = inData("deep", "data");
    mkdirSync(deep, { recursive: true });
    giveToService(inData("deep"));
    rmSync(deep, { recursive: true });
    mkdirSync(join(outside, "journal"));
    link(outside, "deep", "data");
    const before = stateOf(outside);
    expect(fleetgate("journal", "reset", "--discard", "--data", deep).status).toBe(1);
    expect(stateOf(outside)).toEqual(before);
  });
});

function appendOpcua(): void {
  writeFileSync(
    config,
    `${readFileSync(config, "utf8")}opcua: { listen: { host: 127.0.0.1, port: 4840 }, insecureLoopback: {} }\n`,
  );
}

describe.skipIf(!isRoot)("without links, what root does in the data folder is the service's", () => {
  it("after a restore on a machine that had nothing, and after a reset", () => {
    const file = backup();
    rmSync(inData(), { recursive: true });
    expect(fleetgate("restore", file, "--elsewhere")).toMatchObject({ status: 0 });
    expect(notOfService()).toEqual([]);
    expect(fleetgate("journal", "reset", "--data", inData())).toMatchObject({ status: 0 });
    expect(fleetgate("journal", "reset", "--discard", "--data", inData())).toMatchObject({ status: 0 });
    expect(notOfService()).toEqual([]);
    expect(statSync(join(folder, "etc", "key.json")).uid).toBe(0);
  });

  it("after an approval of a file that root has put there", async () => {
    const { thumbprint, pem } = await clientCertificate("by root");
    const path = inData("opcua", "server", "rejected", "by-root.pem");
    writeFileSync(path, pem);
    expect(fleetgate("certs", "approve", thumbprint, "--data", inData())).toMatchObject({ status: 0 });
    expect(readdirSync(inData("opcua", "server", "trusted", "certs"))).toEqual([
      `${basename(path, ".pem")}[${thumbprint}].pem`,
    ]);
    expect(notOfService()).toEqual([]);
  });
});

describe.skipIf(!isRoot)("root refuses", () => {
  it("a data folder that others may write to", () => {
    chownSync(inData(), 0, 0);
    chmodSync(inData(), 0o777);
    const { status, said } = fleetgate("journal", "reset", "--discard", "--data", inData());
    expect(status).toBe(1);
    expect(said).toContain(`${inData()} can be written by users besides root: chmod go-w ${inData()}`);
  });

  it("to run the gateway on a folder of another user", () => {
    const { status, said } = fleetgate("run", "--config", config);
    expect(status).toBe(1);
    expect(said).toContain(
      `${inData()} belongs to user ${SERVICE}: run the gateway as that user, not as root`,
    );
  });
});

describe.skipIf(!isRoot)("root makes no configuration in another user's folder", () => {
  it.each([
    ["the folder itself", "fleetgate.yaml"],
    ["a folder that is missing there", "made/fleetgate.yaml"],
    ["a link that the user has made", "to-root/fleetgate.yaml"],
  ])("in %s: nothing is written, and the message says what to do", (_, name) => {
    link(outside, "secrets");
    link(outside, "to-root");
    const before = stateOf(outside);
    const made = fleetgate(
      ...["init", "--config", inData(name), "--id", "plant1", "--fleet", "fleet.example.com:443"],
      ...["--api-key", join(folder, "etc", "key.json"), "--robots", "cart-1"],
    );
    expect(made.status).not.toBe(0);
    expect(made.said).toContain(`belongs to user ${SERVICE}: run fleetgate init as that user`);
    expect(stateOf(outside)).toEqual(before);
    expect(notOfService()).toEqual([]);
  });
});
