import { existsSync } from "node:fs";
import { chmod, chown, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ArchiveEntry, readAccounts } from "../../platform/archive/tar.ts";
import { asOwnerOf } from "../../platform/folder-owner.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import { syncFolder } from "../../platform/stores/store-marks.ts";
import { NotPossible } from "../exit.ts";
import { whyNotWritten } from "../new-file.ts";
import { type Backup, KEPT_FOLDER, pathOf } from "./archive.ts";

/** What a file or folder is called until it is put in its place. */
export const STAGED = ".restore";
/** Nobody but the owner writes, and nothing is run. */
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

/** Where the entries of a backup go, and whose they become. */
export interface Places {
  /** A folder as the backup has it, unless it is there. */
  makeFolder(path: string): Promise<void>;
  /**
   * The owner of the backup, and its mode without rights that nothing of a gateway needs. Only root can give
   * a file away: otherwise it is the user's own.
   */
  own(path: string, entry: ArchiveEntry): Promise<void>;
}

/** What lies ready beside its place: `<path>.restore` for each path. */
export interface Staging {
  readonly paths: readonly string[];
}

/** Throws NotPossible when this machine does not have an owner of the backup. */
export function placesOf({ entries }: Backup): Places {
  const users = readAccounts("/etc/passwd");
  const groups = readAccounts("/etc/group");
  const folders = new Map(
    entries.filter(({ kind }) => kind === "folder").map((each) => [pathOf(each), each]),
  );

  function ownerOf({ owner, group }: ArchiveEntry): readonly [number, number] {
    const [user, its] = [users.numberOf(owner), groups.numberOf(group)];
    if (user !== null && its !== null) return [user, its];
    const missing = user === null ? `user ${owner}` : `group ${group}`;
    throw new NotPossible(
      `this machine has no ${missing}, who owns files of the backup: install the package first; nothing was changed`,
    );
  }

  async function own(path: string, entry: ArchiveEntry): Promise<void> {
    // In a folder of another user root has that user's rights.
    if (process.geteuid?.() === 0) await chown(path, ...ownerOf(entry));
    await chmod(path, entry.mode & (entry.kind === "file" ? FILE_MODE : FOLDER_MODE));
  }

  if (process.getuid?.() === 0) for (const entry of entries) ownerOf(entry);
  return {
    own,
    async makeFolder(path) {
      if (existsSync(path)) return;
      await makeFolder(path);
      const entry = folders.get(path);
      if (entry !== undefined) await own(path, entry);
    },
  };
}

/** Writes all beside its place. Nothing is left when that fails. Rejects with NotPossible. */
export async function stage({ facts, entries }: Backup, places: Places): Promise<Staging> {
  const kept = join(facts.dataDir, KEPT_FOLDER);
  const isKept = (path: string) => path === kept || path.startsWith(`${kept}/`);
  const paths = entries
    .filter((entry) => pathOf(entry) === kept || (entry.kind === "file" && !isKept(pathOf(entry))))
    .map(pathOf);
  try {
    await clear(paths);
    for (const entry of entries) {
      const path = pathOf(entry);
      if (isKept(path)) {
        const staged = `${kept}${STAGED}${path.slice(kept.length)}`;
        await asOwnerOf(facts.dataDir, () => write(staged, entry, places));
      } else if (entry.kind === "file") {
        await asOwnerOf(dirname(path), async () => {
          await places.makeFolder(dirname(path));
          await write(`${path}${STAGED}`, entry, places);
        });
      }
    }
    return { paths };
  } catch (error) {
    await clear(paths);
    if (error instanceof NotPossible) throw error;
    const path = error instanceof Error && "path" in error ? String(error.path) : "a file";
    throw new NotPossible(`${path} ${whyNotWritten(error)}; nothing was changed`);
  }
}

async function clear(paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await asOwnerOf(dirname(path), () => rm(`${path}${STAGED}`, { recursive: true, force: true }));
}

async function write(path: string, entry: ArchiveEntry, places: Places): Promise<void> {
  if (entry.kind === "folder") await makeFolder(path);
  else {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(entry.content);
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await places.own(path, entry);
  syncFolder(dirname(path));
}
