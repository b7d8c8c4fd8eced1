import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../json.ts";
import { isCode } from "../socket-probe.ts";

/** The records of a store, in lmdb's words. */
export const DATA_FILE = "data.mdb";

const FORMAT = "format.json";
const CLOSED = "closed.json";
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

/** Null when the folder has none, or it cannot be understood. */
export function readFormat(folder: string): StoreFormat | null {
  const { store, version } = readMark(folder, FORMAT) ?? {};
  return typeof store === "string" && typeof version === "number" ? { store, version } : null;
}

export function writeFormat(folder: string, format: StoreFormat): void {
  writeMark(folder, FORMAT, JSON.stringify(format));
}

/** Null when the store is not lost. A mark that a full disk has left empty counts all the same. */
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
 * Says that the store was closed and its file has not changed since, by size and time. Where there is no file
 * yet, the mark is empty: so it fits on a full disk.
 */
export function markClosed(folder: string): void {
  const data = dataOf(folder);
  try {
    writeMark(folder, CLOSED, data === null ? "" : JSON.stringify(data));
  } catch {
    // Without the mark the next start looks at every record, which is no more than slow.
    if (data !== null) rmSync(join(folder, CLOSED), { force: true });
  }
}

/** To be called before the store's file is changed. */
export function removeClosed(folder: string): void {
  removeMark(folder, CLOSED);
}

/** Whether nothing has touched the store since it was closed, or made without a record. */
export function isClosed(folder: string): boolean {
  const mark = readMark(folder, CLOSED);
  if (mark === null) return false;
  const data = dataOf(folder);
  // Made and not yet filled, by a first start that was killed.
  if (mark.bytes === undefined) return data === null || data.bytes === 0;
  return mark.bytes === data?.bytes && mark.changedNs === data?.changedNs;
}

function dataOf(folder: string): { readonly bytes: number; readonly changedNs: string } | null {
  const stats = statSync(join(folder, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : { bytes: Number(stats.size), changedNs: String(stats.mtimeNs) };
}

/** Null when it is not there; empty when it says nothing that can be understood. */
function readMark(folder: string, name: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
    return isJsonObject(parsed) ? parsed : {};
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function writeMark(folder: string, name: string, text: string): void {
  const file = openSync(join(folder, name), "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(folder);
}

function removeMark(folder: string, name: string): void {
  rmSync(join(folder, name), { force: true });
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
