import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../json.ts";
import { isCode } from "../socket-probe.ts";
import { StoreFailed } from "../store.ts";

/** The records of a store, in lmdb's words. */
export const DATA_FILE = "data.mdb";

const FORMAT = "format.json";
const CLOSED = "closed.json";
/** Empty, so that it fits on a full disk. Being there is all that it says, so no damage can make it. */
const NEW = "new";
const LOST = "lost.json";

/** What a store is called, and the version of its records. */
export interface StoreFormat {
  readonly store: string;
  readonly version: number;
}

/** A store whose records were lost, as it stands in the folder until an operator has confirmed that. */
export interface StoreLoss {
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly reason: string;
  /** Where the damaged store lies now; null when there was nothing to keep. */
  readonly keptAs: string | null;
}

/** What a folder says of its format. */
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

/** Null when the store is not lost. A mark that is damaged, or that a full disk has left empty, counts. */
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

/** Throws when not even an empty file can be made. */
export function writeLoss(folder: string, loss: StoreLoss): void {
  // On a full disk a file can often be made, and nothing written to it.
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

/**
 * Says that the store was closed and its file has not changed since, by size and time; or, where there is no
 * file yet, that the store is new.
 */
export function markClosed(folder: string): void {
  const data = dataOf(folder);
  try {
    if (data === null) writeMark(folder, NEW, "");
    else writeMark(folder, CLOSED, JSON.stringify(data));
  } catch {
    // Without the mark the next start looks at every record, which is no more than slow.
    if (data !== null) removeMark(folder, CLOSED);
  }
}

/** To be called before the store's file is changed. */
export function removeClosed(folder: string): void {
  removeMark(folder, CLOSED);
  removeMark(folder, NEW);
}

/** Whether nothing has touched the store since it was closed, or made without a record. */
export function isClosed(folder: string): boolean {
  const data = dataOf(folder);
  // Made and not yet filled, by a first start that was killed.
  if (data === null || data.bytes === 0) return existsSync(join(folder, NEW));
  const mark = readMark(folder, CLOSED);
  return mark?.bytes === data.bytes && mark.changedNs === data.changedNs;
}

function dataOf(folder: string): { readonly bytes: number; readonly changedNs: string } | null {
  const stats = statSync(join(folder, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : { bytes: Number(stats.size), changedNs: String(stats.mtimeNs) };
}

/** Null when it is not there; empty when it says nothing that can be understood. Throws StoreFailed. */
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

/** All of it or nothing: what is read later and cannot be understood is damage. */
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

/** What was made, renamed or removed in a folder is on the disk only then. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
