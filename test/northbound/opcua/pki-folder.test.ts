import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { preparePkiFolder } from "../../../src/northbound/opcua/pki-folder.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pki-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a file that is in the way of the server's key ends the start, by its name", async () => {
  mkdirSync(join(folder, "server"));
  writeFileSync(join(folder, "server", "own"), "");
  await expect(preparePkiFolder(folder)).rejects.toThrow(/ENOTDIR.*server\/own/);
});

it("removes a key that a full disk has left empty", async () => {
  const key = join(folder, "server", "own", "private", "private_key.pem");
  mkdirSync(join(key, ".."), { recursive: true });
  writeFileSync(key, "");
  await preparePkiFolder(folder);
  expect(existsSync(key)).toBe(false);
});

it("makes a folder that is not there yet", async () => {
  await preparePkiFolder(join(folder, "new"));
  expect(statSync(join(folder, "new")).isDirectory()).toBe(true);
});
