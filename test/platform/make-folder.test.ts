import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FolderNotMade, folderFault, makeFolder } from "../../src/platform/folder.ts";

const NOBODY = 65_534;

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
  ["a file in the way", "file/below", "PATH/file is a file, no folder: remove it, or choose another folder"],
  [
    "a link that leads nowhere",
    "link",
    "PATH/link is a link that leads nowhere: remove it, or choose another",
  ],
  ["links in a circle", "circle/below", "PATH/circle/below cannot be used: its links lead in a circle"],
  ["a name that is too long", "x".repeat(300), "cannot be used: the name is too long; choose a shorter one"],
])("names %s", async (_, name, message) => {
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nowhere"), join(folder, "link"));
  symlinkSync(join(folder, "circle"), join(folder, "circle"));
  const failed = await makeFolder(join(folder, name)).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(FolderNotMade);
  expect(failed).toHaveProperty("message", expect.stringContaining(message.replace("PATH", folder)));
});

it("names a folder of another user", async () => {
  chmodSync(folder, 0o555);
  const isRoot = process.geteuid?.() === 0;
  // Root may write everywhere.
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await expect(makeFolder(join(folder, "a"))).rejects.toThrow(
      `${folder}/a cannot be made: user ${process.geteuid?.()} may not write in ${folder}; give it to that user`,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

// mkdir with `recursive` never comes back from /proc, and keeps a core busy.
it.each(["/proc", "/sys"].filter((path) => existsSync(path)))(
  "ends at once where the kernel takes no folders: %s",
  async (path) => {
    const why =
      process.geteuid?.() === 0 || path === "/proc"
        ? `${path} takes no folders; choose a folder on a disk`
        : `user ${process.geteuid?.()} may not write in ${path}; give it to that user`;
    await expect(makeFolder(`${path}/fleetgate/data`)).rejects.toThrow(
      `${path}/fleetgate cannot be made: ${why}`,
    );
  },
);

it.each([
  ["ENOENT", "/disk takes no folders; choose a folder on a disk"],
  ["EPERM", "/disk takes no folders; choose a folder on a disk"],
  ["ENOSPC", "the disk of /disk is full; make room on it, or choose another folder"],
  ["EDQUOT", "the disk of /disk is full; make room on it, or choose another folder"],
  ["EROFS", "/disk is mounted read-only; mount it for writing, or choose another folder"],
  ["EIO", "EIO: planted; choose another folder"],
])("says what to do about %s", (code, reason) => {
  const error = Object.assign(new Error(`${code}: planted`), { code });
  expect(folderFault("/disk", error)).toBe(reason);
});
