import { readFileSync } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { Refused } from "./exit.ts";

/** Who may read a file. */
export interface Access {
  readonly mode: number;
  /** The group that it is given to; null: left as it is. */
  readonly group: number | null;
}

/** What everybody may read. */
export const publicAccess: Access = { mode: 0o644, group: null };

/**
 * Secrets are root's, and the service's group reads them; without root or that group they are the user's own.
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

/** Writes a file that is not there yet, synced. Leaves nothing when it fails. Rejects with Refused. */
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

/** Whether something has that name: a link that leads nowhere too. */
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
