import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { folderProblems } from "../../src/config/load.ts";

let folder: string;
let owner: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "folder-mode-"));
  owner = statSync(folder).uid;
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it.each([0o700, 0o755, 0o750])("takes a folder that only its owner may write: %i", async (mode) => {
  chmodSync(folder, mode);
  expect(await folderProblems(folder, owner)).toEqual([]);
});

it.each([
  [0o770, "0770"],
  [0o707, "0707"],
  [0o777, "0777"],
])("names path, mode and remedy of one that others may write: %i", async (mode, text) => {
  chmodSync(folder, mode);
  expect(await folderProblems(folder, owner)).toEqual([
    `${folder} can be written by users besides its owner (mode ${text}), who could forge the record of commands: chmod go-w ${folder}`,
  ]);
});

it("names the owner where it is another user", async () => {
  expect(await folderProblems(folder, owner + 1)).toEqual([
    `${folder} belongs to user ${owner} (mode 0700), and this program runs as user ${owner + 1}: run the gateway as its owner, or chown ${owner + 1} ${folder} && chmod 700 ${folder}`,
  ]);
  expect(await folderProblems(folder, null)).toEqual([]);
});

it("says nothing of a folder that is not there yet", async () => {
  expect(await folderProblems(join(folder, "data"), owner)).toEqual([]);
});
