import { existsSync, lstatSync, readFileSync, renameSync } from "node:fs";
import { chmod, chown, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readBackupFiles } from "../../config/backup-files.ts";
import { type ArchiveEntry, readAccounts } from "../../platform/archive/tar.ts";
import { isCode } from "../../platform/error-text.ts";
import { asOwnerOf, makeFolder } from "../../platform/folder.ts";
import { lockFolder } from "../../platform/folder-lock.ts";
import { discardStore } from "../../platform/stores/kept-store.ts";
import { beginRestore, DATA_FILE, endRestore, syncFolder } from "../../platform/stores/store-marks.ts";
import { EXPORT_FILE } from "../../platform/stores/tables-export.ts";
import { NotPossible } from "../exit.ts";
import { whyNotWritten } from "../new-file.ts";
import { unitEnvironment } from "../unit-environment.ts";
import { type Backup, KEPT_FOLDER, pathOf, TABLES_FOLDER } from "./archive.ts";
import { refuseElsewhere, refuseForeign } from "./content.ts";

export interface RestoreOptions {
  /** This machine's gateway was the last one to send commands: its journal stays. */
  readonly keepsJournal: boolean;
  /** Root may write outside the usual folders of a gateway. */
  readonly isElsewhere: boolean;
  readonly nowMs: number;
}

/** What a restore did: paths. */
export interface Restored {
  readonly written: readonly string[];
  /** What was there before, under its new name. */
  readonly keptAs: readonly string[];
}

const STOP_FIRST = "stop the gateway first";
const REASON = "a backup was restored";

/** Tickets first: with a journal of before, they would say of its commands that they were never sent. */
const STORES = ["slots", "journal"];

/**
 * Puts a backup in place. All is written beside its place first, and renamed at the end. A restore that is
 * killed before the first rename has changed nothing; one that is killed later keeps every gateway from
 * starting until it is run again. Rejects with NotPossible or FolderLocked, and nothing has changed then.
 */
export async function restoreBackup(backup: Backup, options: RestoreOptions): Promise<Restored> {
  const { config, dataDir } = backup.facts;
  const { env } = unitEnvironment(process.env, process.getuid?.() ?? null, config);
  await refuseForeign(backup, env, "nothing was changed");
  if (!options.isElsewhere) refuseElsewhere(backup);
  await refuseOtherGateway(backup);
  const places = placesOf(backup);
  await asOwnerOf(dirname(dataDir), () => places.makeFolder(dataDir));
  const ofService = <T>(work: () => T | PromiseLike<T>) => asOwnerOf(dataDir, work);
  const lock = await ofService(() => lockFolder(dataDir, STOP_FIRST));
  try {
    if (options.keepsJournal) requireJournal(dataDir);
    const staging = await stage(backup, places);
    await ofService(() => beginRestore(dataDir));
    const keptAs = [
      ...(options.keepsJournal ? [] : await ofService(() => loseStores(dataDir, options.nowMs))),
      ...(await putInPlace(staging, dataDir, options.nowMs)),
    ];
    await ofService(() => endRestore(dataDir));
    return { written: staging.paths, keptAs };
  } finally {
    await ofService(() => lock[Symbol.asyncDispose]());
  }
}

async function refuseOtherGateway({ facts }: Backup): Promise<void> {
  const { config, gatewayId } = facts;
  if (!existsSync(config)) return;
  const there = await readBackupFiles(config, { STATE_DIRECTORY: facts.dataDir });
  if (!there.ok || there.gatewayId === gatewayId) return;
  throw new NotPossible(
    `the backup is of gateway ${gatewayId}, and ${config} is of gateway ${there.gatewayId}: ` +
      "move that file away first; nothing was changed",
  );
}

/** An empty folder would count as a first start, and a command of before as new. */
function requireJournal(dataDir: string): void {
  if (existsSync(join(dataDir, "journal", DATA_FILE))) return;
  throw new NotPossible(`${dataDir} has no journal: leave --keep-journal out; nothing was changed`);
}

/** Nobody knows what was sent since, so only stops and reads pass until an operator confirms that. */
async function loseStores(dataDir: string, nowMs: number): Promise<readonly string[]> {
  const keptAs: string[] = [];
  for (const store of STORES) {
    const aside = await discardStore(join(dataDir, store), nowMs, REASON);
    if (aside !== null) keptAs.push(aside);
  }
  return keptAs;
}

async function putInPlace({ paths }: Staging, dataDir: string, nowMs: number): Promise<readonly string[]> {
  const stamp = new Date(nowMs).toISOString().replaceAll(":", "-");
  const keptAs: string[] = [];
  for (const path of paths) {
    // The next start makes the tables of their file: those that are there must not be older or newer.
    const inTheWay = path === join(dataDir, EXPORT_FILE) ? join(dataDir, TABLES_FOLDER) : path;
    const aside = await asOwnerOf(dirname(path), () => putOne(path, inTheWay, `${inTheWay}.before-${stamp}`));
    if (aside !== null) keptAs.push(aside);
  }
  return keptAs;
}

/** @returns where lies what was there; null: nothing was, or it was the same */
function putOne(path: string, inTheWay: string, aside: string): string | null {
  const staged = `${path}${STAGED}`;
  const isInTheWay = isThere(inTheWay) && !isSameFile(inTheWay, staged);
  if (isInTheWay) renameSync(inTheWay, aside);
  renameSync(staged, path);
  syncFolder(dirname(path));
  return isInTheWay ? aside : null;
}

/** Of two files; a folder is the same as nothing. */
function isSameFile(path: string, other: string): boolean {
  try {
    return readFileSync(path).equals(readFileSync(other));
  } catch (error) {
    if (isCode(error, "EISDIR")) return false;
    throw error;
  }
}

/** A link that leads nowhere too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What a file or folder is called until it is put in its place. */
const STAGED = ".restore";
/** Nobody but the owner writes, and nothing is run. */
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

/** Where the entries of a backup go, and whose they become. */
interface Places {
  /** A folder as the backup has it, unless it is there. */
  makeFolder(path: string): Promise<void>;
  /**
   * The owner of the backup, and its mode without rights that nothing of a gateway needs. Only root can give
   * a file away: otherwise it is the user's own.
   */
  own(path: string, entry: ArchiveEntry): Promise<void>;
}

/** What lies ready beside its place: `<path>.restore` for each path. */
interface Staging {
  readonly paths: readonly string[];
}

/** Throws NotPossible when this machine does not have an owner of the backup. */
function placesOf({ entries }: Backup): Places {
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
async function stage({ facts, entries }: Backup, places: Places): Promise<Staging> {
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
