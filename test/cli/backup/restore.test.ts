import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { packBackup, readGateway, unpackBackup } from "../../../src/cli/backup/archive.ts";
import { restoreBackup } from "../../../src/cli/backup/restore.ts";
import { type ArchiveEntry, packTar, unpackTar } from "../../../src/platform/archive/tar.ts";

const API_KEY = '{"api_key":"k","scope":"acme","secret":"s"}';
let folder: string;
let config: string;
/** What `backup` has written. */
let written: Buffer;
const inEtc = (name: string) => join(folder, "etc", name);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-restore-"));
  config = inEtc("fleetgate.yaml");
  mkdirSync(join(folder, "etc"));
  mkdirSync(join(folder, "data", "opcua"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "data", "opcua", "trusted"), "", { mode: 0o600 });
  writeFileSync(inEtc("key.json"), API_KEY, { mode: 0o600 });
  writeFileSync(config, configuration("plant1"));
  written = await packBackup(await readGateway(config, {}, Date.now()));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function configuration(id: string): string {
  return [
    `gateway: { id: ${id}, dataDir: ${join(folder, "data")} }`,
    "fleet:",
    "  grpc: { address: fleet.example.com:443 }",
    "  https: https://fleet.example.com",
    "  authUrl: https://auth.example.com",
    "  credentials: key.json",
    "  robots: [cart-01]",
    "",
  ].join("\n");
}

/** The backup, with entries that somebody has changed. */
async function altered(
  change: (entries: readonly ArchiveEntry[]) => readonly ArchiveEntry[],
): Promise<Buffer> {
  return gzipSync(await packTar(change(await unpackTar(gunzipSync(written)))));
}

const nameOf = (path: string) => path.slice(1);

function changed(path: string, change: Partial<ArchiveEntry>): Promise<Buffer> {
  return altered((entries) =>
    entries.map((entry) => (entry.name === nameOf(path) ? { ...entry, ...change } : entry)),
  );
}

function added(path: string, more: Partial<ArchiveEntry> = {}): Promise<Buffer> {
  return altered((entries) => {
    const model = entries.find(({ name }) => name === nameOf(config));
    if (model === undefined) throw new Error("there is no configuration");
    return [...entries, { ...model, name: nameOf(path), content: Buffer.from("x"), ...more }];
  });
}

async function restore(backup: Buffer | Promise<Buffer>, isElsewhere = true): Promise<string> {
  const bytes = await backup;
  rmSync(join(folder, "etc"), { recursive: true });
  rmSync(join(folder, "data"), { recursive: true });
  return restoreBackup(await unpackBackup("FILE", bytes), {
    keepsJournal: false,
    isElsewhere,
    nowMs: Date.now(),
  }).then(
    () => "restored",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

it("takes what backup has written", async () => {
  expect(await restore(written)).toBe("restored");
  expect(existsSync(inEtc("key.json"))).toBe(true);
});

it("takes the gateway's own CA, which no key of the configuration names", async () => {
  writeFileSync(inEtc("gateway-ca.key"), "key of the CA", { mode: 0o600 });
  expect(await restore(packBackup(await readGateway(config, {}, Date.now())))).toBe("restored");
  expect(readFileSync(inEtc("gateway-ca.key"), "utf8")).toBe("key of the CA");
  expect(statSync(inEtc("gateway-ca.key")).mode & 0o7777).toBe(0o600);
});

it("says how a gateway that has never run gets a backup", async () => {
  rmSync(join(folder, "data"), { recursive: true });
  await expect(readGateway(config, {}, Date.now())).rejects.toThrow(
    `${join(folder, "data")} does not exist yet: start the gateway once; nothing was written`,
  );
});

it("gives no file a mode by which others write, or anybody runs it", async () => {
  expect(await restore(changed(inEtc("key.json"), { mode: 0o6777 }))).toBe("restored");
  expect(statSync(inEtc("key.json")).mode & 0o7777).toBe(0o644);
  expect(await restore(changed(join(folder, "data"), { mode: 0o1777 }))).toBe("restored");
  expect(statSync(join(folder, "data")).mode & 0o7777).toBe(0o755);
});

it.each([
  ["a file that the configuration does not name", () => added(inEtc("other.json"))],
  ["a file outside", () => added(join(folder, "cron.d"))],
  ["a folder outside", () => added(join(folder, "cron.d"), { kind: "folder", content: Buffer.alloc(0) })],
  ["a file twice", () => added(inEtc("key.json"), { content: Buffer.from(API_KEY) })],
  ["another part of the data folder", () => added(join(folder, "data", "restore-unfinished"))],
  ["a file whose folder is missing", () => added(join(folder, "data", "opcua", "more", "file"))],
])("refuses %s", async (_, bytes) => {
  expect(await restore(bytes())).toMatch(/is nothing that fleetgate backup writes; nothing was changed$/);
  expect(existsSync(folder) && !existsSync(join(folder, "etc"))).toBe(true);
});

it.each([
  ["a mistake", "gatewayy: {}\n", /^the configuration has mistakes: .*fleetgate\.yaml.*gateway/],
  ["another gateway's id", null, /says gateway plant1, and its configuration gateway plant2/],
])("refuses a configuration with %s", async (_, text, message) => {
  const content = Buffer.from(text ?? configuration("plant2"));
  expect(await restore(changed(config, { content }))).toMatch(message);
  expect(existsSync(join(folder, "etc"))).toBe(false);
});

it("refuses a named file that is not what its key needs", async () => {
  const content = Buffer.from("* * * * * root true\n");
  expect(await restore(changed(inEtc("key.json"), { content }))).toContain("is no JSON document");
});

it("lets root write outside a gateway's usual folders only if that is asked for", async () => {
  const said = await restore(written, false);
  if (process.getuid?.() !== 0) expect(said).toBe("restored");
  else expect(said).toContain(`also writes to ${join(folder, "data")}, `);
});
