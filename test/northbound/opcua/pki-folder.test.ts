import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openPkiFolder } from "../../../src/northbound/opcua/pki-folder.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pki-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a file that is in the way of the server's key ends the start, by its name", async () => {
  mkdirSync(join(folder, "server"));
  writeFileSync(join(folder, "server", "own"), "");
  await expect(openPkiFolder(folder, silentLog)).rejects.toThrow(/ENOTDIR.*server\/own/);
});

it("trust lists that cannot be copied are logged", async () => {
  // The gateway's own key is missing, and cannot be written: a folder has the name of the file that is tried.
  mkdirSync(join(folder, ".room"));
  const socket = createServer();
  await new Promise<void>((listening) => socket.listen(join(folder, "no-file"), listening));
  const lines: string[] = [];
  const pki = await openPkiFolder(folder, createLog("info", { write: (line: string) => lines.push(line) }));
  expect(pki.isTemporary).toBe(true);
  expect(lines.join("")).toContain("trust lists cannot be read whole");
  await pki.close();
  await new Promise((closed) => socket.close(closed));
});

it("a folder that is not there yet is nothing to tell of", async () => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => lines.push(line) });
  const pki = await openPkiFolder(join(folder, "new"), log);
  expect(pki.isTemporary).toBe(false);
  expect(lines).toEqual([]);
});
