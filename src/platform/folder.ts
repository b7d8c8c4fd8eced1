import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isCode, PlainError } from "./error-text.ts";

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

/** Root cannot work in a folder safely; the message says why and what to do. */
class FolderUnsafe extends PlainError {
  override readonly name = "FolderUnsafe";
}

/** A user by name or number. */
interface UserRights {
  readonly user: string | number;
  readonly group: string | number;
  /** Further groups, beside those of the user on this machine. */
  readonly groups: readonly string[];
}

const ROOT = 0;
const STICKY = 0o1000;
const MOST_LINKS = 40;

/**
 * Root works in a folder of another user with the rights of that user. A link there then leads to nothing
 * that the user could not change anyway. One call at a time: the rights are those of the whole process.
 *
 * @param path may be missing
 * @throws FolderUnsafe
 */
export async function asOwnerOf<T>(path: string, work: () => T | PromiseLike<T>): Promise<T> {
  const owner = process.getuid?.() === ROOT ? ownerOf(path) : null;
  if (owner === null) return work();
  const back = takeRights({ user: owner.uid, group: owner.gid, groups: [] });
  try {
    return await work();
  } finally {
    back();
  }
}

/** For root alone. @throws FolderUnsafe if the folder belongs to another user */
export function refuseForeignFolder(path: string, advice: string): void {
  const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? ROOT;
  if (process.getuid?.() !== ROOT || uid === ROOT) return;
  throw new FolderUnsafe(`${path} belongs to user ${uid}: ${advice}`);
}

/** For root alone. @throws FolderUnsafe if another user decides what lies at a path, which may be missing */
export function refuseForeignPath(path: string, advice: string): void {
  const owner = process.getuid?.() === ROOT ? ownerOf(path) : null;
  if (owner === null) return;
  throw new FolderUnsafe(`${path}: a folder on the way belongs to user ${owner.uid}: ${advice}`);
}

/**
 * Gives root the rights of another user.
 *
 * @returns a function that takes them back
 * @throws the system's error if that is not possible, as for an unknown user
 */
export function takeRights({ user, group, groups }: UserRights): () => void {
  const ownGroups = process.getgroups?.() ?? [];
  const own = process.getegid?.() ?? ROOT;
  const back = () => {
    process.seteuid?.(ROOT);
    process.setegid?.(own);
    process.setgroups?.(ownGroups);
  };
  // @types/node lacks it.
  const { initgroups } = process as { readonly initgroups?: (user: string, group: string) => void };
  try {
    if (typeof user === "string" && typeof group === "string") initgroups?.(user, group);
    else process.setgroups?.([group]);
    process.setgroups?.([...(process.getgroups?.() ?? []), ...groups]);
    process.setegid?.(group);
    process.seteuid?.(user);
    return back;
  } catch (error) {
    back();
    throw error;
  }
}

/**
 * The owner of the first part of a path that is not root's: that user controls all below it. Null: root alone
 * does.
 */
function ownerOf(path: string): Pick<Stats, "uid" | "gid"> | null {
  let at = "/";
  let parts = partsOf(resolve(path));
  for (let links = 0; parts.length > 0; ) {
    const [name = "", ...rest] = parts;
    const next = join(at, name);
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    // Nobody can replace a file in root's folder, whoever owns it.
    if (stats.uid !== ROOT) return rest.length === 0 && stats.isFile() ? null : stats;
    if (stats.isSymbolicLink()) {
      links += 1;
      if (links > MOST_LINKS) throw new FolderUnsafe(`${path}: its links lead in a circle; remove them`);
      parts = [...partsOf(resolve(at, readlinkSync(next))), ...rest];
      at = "/";
      continue;
    }
    if (isOpen(stats))
      throw new FolderUnsafe(`${next} can be written by users besides root: chmod go-w ${next}`);
    at = next;
    parts = rest;
  }
  return null;
}

/** In a sticky folder such as /tmp, nobody can replace a file of root's. */
function isOpen({ mode, gid }: Stats): boolean {
  if ((mode & STICKY) !== 0) return false;
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== ROOT);
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
