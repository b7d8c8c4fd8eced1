import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { PlainError } from "./error-text.ts";
import { isCode } from "./socket-probe.ts";

/** A folder does not exist and cannot be made; the message names the part of the path that is in the way. */
export class FolderNotMade extends PlainError {
  override readonly name = "FolderNotMade";
  /** The system's code, as ENOSPC; undefined: the path itself is wrong. */
  readonly code: string | undefined;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  }
}

const OWNER_ONLY = 0o700;

/**
 * Makes the folder `path` and every folder above it that is missing, each for its owner alone.
 * One level at a time: `mkdir` with `recursive` loops for ever below /proc (Node.js 20, 24 and 26).
 *
 * @throws FolderNotMade
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await isFolder(at)); at = dirname(at)) missing.unshift(at);
  for (const each of missing) await makeOne(each);
}

async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: OWNER_ONLY });
  } catch (error) {
    if (isCode(error, "EEXIST")) {
      // Another caller was first.
      if (await isFolder(path)) return;
      throw new FolderNotMade(`${path} is a link that leads nowhere: remove it, or choose another folder`);
    }
    throw new FolderNotMade(`${path} cannot be made: ${folderFault(dirname(path), error)}`, error);
  }
}

/** False: nothing is there. Rejects if something else is there, or if it cannot be read. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    // ENOTDIR: a part above is a file, which the next check finds.
    if (isCode(error, "ENOENT") || isCode(error, "ENOTDIR")) return false;
    throw new FolderNotMade(`${path} cannot be used: ${folderFault(dirname(path), error)}`, error);
  }
  throw new FolderNotMade(`${path} is a file, no folder: remove it, or choose another folder`);
}

/** Why nothing could be made in the existing `folder`, and what to do about it. */
export function folderFault(folder: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  switch (code) {
    // The file system there takes no folders of ours.
    case "ENOENT":
    case "EPERM":
      return `${folder} takes no folders; choose a folder on a disk`;
    case "EACCES":
      return `user ${process.geteuid?.() ?? "of this program"} may not write in ${folder}; give it to that user (chown ${process.geteuid?.() ?? "USER"} ${folder}), or choose another folder`;
    case "EROFS":
      return `${folder} is mounted read-only; mount it for writing, or choose another folder`;
    case "ENOSPC":
    case "EDQUOT":
      return `the disk of ${folder} is full; make room on it, or choose another folder`;
    case "ENAMETOOLONG":
      return "the name is too long; choose a shorter one";
    case "ELOOP":
      return "its links lead in a circle; remove them, or choose another folder";
    default:
      return `${error instanceof Error ? error.message : String(error)}; choose another folder`;
  }
}
