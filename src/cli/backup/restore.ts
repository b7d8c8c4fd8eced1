import { existsSync, lstatSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { readBackupFiles } from "../../config/backup-files.ts";
import { lockFolder } from "../../platform/folder-lock.ts";
import { asOwnerOf } from "../../platform/folder-owner.ts";
import { isCode } from "../../platform/socket-probe.ts";
import { discardStore } from "../../platform/stores/kept-store.ts";
import { DATA_FILE, syncFolder } from "../../platform/stores/store-marks.ts";
import { EXPORT_FILE } from "../../platform/stores/tables-export.ts";
import { beginRestore, endRestore } from "../../platform/stores/unfinished-restore.ts";
import { NotPossible } from "../exit.ts";
import { unitEnvironment } from "../unit-environment.ts";
import { type Backup, TABLES_FOLDER } from "./archive.ts";
import { refuseElsewhere, refuseForeign } from "./content.ts";
import { placesOf, STAGED, type Staging, stage } from "./staging.ts";

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
const STORES = ["tickets", "journal"];

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
