import { readFileSync } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { Refused } from "./exit.ts";

/** The access rights of a file. */
export interface Access {
  readonly mode: number;
  /** The new group of the file; null: unchanged. */
  readonly group: number | null;
}

/** For files that everybody may read. */
export const publicAccess: Access = { mode: 0o644, group: null };

/**
 * Secrets belong to root, and the service's group reads them; without root or that group they belong to the
 * user.
 */
export function secretAccess(user = process.getuid?.(), group = serviceGroup()): Access {
  return user === 0 && group !== null ? { mode: 0o640, group } : { mode: 0o600, group: null };
}

/** The number of the group as which the Debian package's unit runs; null: there is none. */
function serviceGroup(): number | null {
  try {
    const number = /^fleetgate:[^:]*:(\d+):/m.exec(readFileSync("/etc/group", "utf8"))?.[1];
    return number === undefined ? null : Number(number);
  } catch {
    // A system without that file has no such group.
    return null;
  }
}

/** Writes a new file, synced. Leaves nothing if it fails. Rejects with Refused. */
export async function writeNewFile(path: string, text: string, { mode, group }: Access): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error) => {
    throw new Refused([`${path} ${whyNotWritten(error)}`]);
  });
  try {
    await file.writeFile(text);
    if (group !== null) await file.chown(0, group);
    await file.chmod(mode);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw new Refused([`${path} ${whyNotWritten(error)}`]);
  } finally {
    await file.close();
  }
}

/** Whether the name exists, also as a broken link. */
export function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Why a file could not be written and what to do, as the end of a sentence. */
export function whyNotWritten(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EEXIST":
      return "is there already: remove it, or choose another name";
    case "EISDIR":
      return "is a folder: remove it, or choose another folder";
    case "ENOENT":
    case "ENOTDIR":
      return "cannot be written: there is no such folder";
    case "EACCES":
    case "EPERM":
      return "cannot be written by this user: use sudo, or choose another folder";
    case "EROFS":
      return "cannot be written: its disk is mounted read-only";
    case "ENOSPC":
    case "EDQUOT":
      return "cannot be written: its disk is full";
    default:
      return `cannot be written: ${String(code ?? error)}`;
  }
}
