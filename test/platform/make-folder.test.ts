import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FolderNotMade, makeFolder } from "../../src/platform/make-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "make-folder-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("makes every folder that is missing, for its owner alone, and takes one that exists", async () => {
  const path = join(folder, "a", "b", "c");
  await makeFolder(path);
  for (const made of [join(folder, "a"), path]) expect(statSync(made).mode & 0o777).toBe(0o700);
  await makeFolder(path);
});

it("makes one folder for callers at the same time", async () => {
  const path = join(folder, "a", "b");
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(path, "c"))]);
  expect(existsSync(join(path, "c"))).toBe(true);
});

it.each([
  ["a file in the way", "file/below", (path: string) => `${path}/file is a file, no folder`],
  ["a link that leads nowhere", "link", (path: string) => `${path}/link is a link that leads nowhere`],
])("names %s", async (_, name, message) => {
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nowhere"), join(folder, "link"));
  const failed = await makeFolder(join(folder, name)).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(FolderNotMade);
  expect(failed).toHaveProperty("message", expect.stringContaining(message(folder)));
});

it.skipIf(!existsSync("/proc/self"))("ends at once where the kernel takes no folders", async () => {
  // mkdir with `recursive` never comes back from here, and keeps a core busy.
  await expect(makeFolder("/proc/fleetgate/data")).rejects.toThrow(
    "/proc/fleetgate cannot be made: /proc takes no folders; choose a folder on a disk",
  );
});
