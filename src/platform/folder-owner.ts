import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { PlainError } from "./error-text.ts";

/** Root cannot work in a folder safely; the message says why and what to do. */
class FolderUnsafe extends PlainError {
  override readonly name = "FolderUnsafe";
}

/** A user by name or number. */
export interface UserRights {
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
    if (stats.uid !== ROOT) return stats;
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
