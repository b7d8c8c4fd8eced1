import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { isCode, PlainError } from "../error-text.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { StoreFailed } from "../store.ts";

/** The name that lmdb gives to the file of a store's records. */
export const DATA_FILE = "data.mdb";

const FORMAT = "format.json";
const CLOSED = "closed.json";
/** Empty, so that it fits on a full disk. Only its existence counts, so no damage can imitate it. */
const NEW = "new";
const LOST = "lost.json";

/** The name of a store, and the version of its records. */
export interface StoreFormat {
  readonly store: string;
  readonly version: number;
}

/** A store whose records were lost. The folder keeps this until an operator has confirmed it. */
export interface StoreLoss {
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly reason: string;
  /** The path of the damaged store; null: there was nothing to keep. */
  readonly keptAs: string | null;
}

/** The format that a folder names. */
export type FoundFormat = StoreFormat | "missing" | "damaged";

export function readFormat(folder: string): FoundFormat {
  const mark = readMark(folder, FORMAT);
  if (mark === null) return "missing";
  const { store, version } = mark;
  const isVersion = typeof version === "number" && Number.isSafeInteger(version) && version >= 0;
  return typeof store === "string" && isVersion ? { store, version } : "damaged";
}

export function writeFormat(folder: string, format: StoreFormat): void {
  writeMark(folder, FORMAT, JSON.stringify(format));
}

/** Null: the store is not lost. A mark that is damaged, or that a full disk has left empty, counts. */
export function readLoss(folder: string): StoreLoss | null {
  const mark = readMark(folder, LOST);
  if (mark === null) return null;
  const { since, reason, keptAs } = mark;
  return {
    since: typeof since === "string" ? since : statSync(join(folder, LOST)).mtime.toISOString(),
    reason: typeof reason === "string" ? reason : "the reason could not be written down",
    keptAs: typeof keptAs === "string" ? keptAs : null,
  };
}

/** Throws if not even an empty file can be made. */
export function writeLoss(folder: string, loss: StoreLoss): void {
  // On a full disk a file can often be made, but nothing written to it.
  writeMark(folder, LOST, "");
  try {
    writeMark(folder, LOST, JSON.stringify(loss));
  } catch (error) {
    if (!isCode(error, "ENOSPC")) throw error;
  }
}

export function removeLoss(folder: string): void {
  removeMark(folder, LOST);
}

/** Marks the store as closed, with the size and time of its file, or as new if it has no file yet. */
export function markClosed(folder: string): void {
  const data = dataOf(folder);
  try {
    if (data === null) writeMark(folder, NEW, "");
    else writeMark(folder, CLOSED, JSON.stringify(data));
  } catch {
    // Without the mark the next start checks every record, which is only slow.
    if (data !== null) removeMark(folder, CLOSED);
  }
}

/** Call it before the store's file is changed. */
export function removeClosed(folder: string): void {
  removeMark(folder, CLOSED);
  removeMark(folder, NEW);
}

/** Whether the store was not changed since it was closed, or since it was made without a record. */
export function isClosed(folder: string): boolean {
  const data = dataOf(folder);
  // A first start was killed after it had made the store, and before it wrote to it.
  if (data === null || data.bytes === 0) return existsSync(join(folder, NEW));
  const mark = readMark(folder, CLOSED);
  return mark?.bytes === data.bytes && mark.changedNs === data.changedNs;
}

function dataOf(folder: string): { readonly bytes: number; readonly changedNs: string } | null {
  const stats = statSync(join(folder, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : { bytes: Number(stats.size), changedNs: String(stats.mtimeNs) };
}

/** Null: it does not exist; empty: it cannot be understood. Throws StoreFailed. */
function readMark(folder: string, name: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
    return isJsonObject(parsed) ? parsed : {};
  } catch (error) {
    if (isCode(error, "ENOENT") || isCode(error, "ENOTDIR")) return null;
    if (error instanceof SyntaxError || isCode(error, "EISDIR")) return {};
    throw new StoreFailed(`${join(folder, name)} cannot be read`, { cause: error });
  }
}

/** Writes all of it or nothing: a mark that cannot be understood later counts as damage. */
function writeMark(folder: string, name: string, text: string): void {
  const path = join(folder, name);
  const file = openSync(`${path}.part`, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.part`, path);
  syncFolder(folder);
}

function removeMark(folder: string, name: string): void {
  rmSync(join(folder, name), { force: true, recursive: true });
  syncFolder(folder);
}

/** Makes changes of a folder (made, renamed or removed files) survive a power cut. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A member of a cluster has a journal of its own, which the others do not know. */
export class OwnJournal extends PlainError {
  override readonly name = "OwnJournal";
  override readonly ending = "config";
}

/** A restore was interrupted, so nothing may be started on the folder. */
class RestoreUnfinished extends PlainError {
  override readonly name = "RestoreUnfinished";
}

const MARK = "restore-unfinished";

/** From here on no gateway starts on the folder, until `endRestore`. */
export function beginRestore(dataDir: string): void {
  writeFileSync(join(dataDir, MARK), "", { mode: 0o600, flush: true });
  syncFolder(dataDir);
}

export function endRestore(dataDir: string): void {
  rmSync(join(dataDir, MARK), { force: true });
  syncFolder(dataDir);
}

/** @throws RestoreUnfinished */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, MARK))) return;
  throw new RestoreUnfinished(
    `the restore of a backup into ${dataDir} was not finished: run fleetgate restore with the same file again`,
  );
}
