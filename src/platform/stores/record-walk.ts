import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { ABORT, open } from "lmdb";
import { isCode, messageOf } from "../error-text.ts";
import { damagedRecord, isIntact, keySumOf } from "./record-seal.ts";

/** The range of lmdb's own errors (lmdb.h); all others are the machine's. */
const OLDEST_LMDB_CODE = -30_799;
const NEWEST_LMDB_CODE = -30_700;
/** The smallest possible page; lmdb uses the machine's page size. */
const PAGE_BYTES = 4_096;
const PAGE_SIZES = [PAGE_BYTES, 2 * PAGE_BYTES, 4 * PAGE_BYTES, 8 * PAGE_BYTES, 16 * PAGE_BYTES];
/** Both heads of the file, each a page long, have this word at the same offset. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
/** A plant's file has no free range of this size. */
const MOST_PROBE_BYTES = 16_000_000;

type Database = ReturnType<typeof open<number | Buffer, string>>;

/** What lmdb tells of a file; a page is a part of it. */
interface Stats {
  readonly entryCount: number;
  readonly pageSize: number;
  readonly lastPageNumber: number;
}

/**
 * Reads every record of the store in `folder`. A damaged page may end the process at any step.
 *
 * @param isReadByOwner the store's owner reads the records: then they are only counted
 * @returns what is wrong with the store; null: it can be opened
 * @throws an error of the machine, for which the store is not to blame
 */
export async function walkRecords(folder: string, isReadByOwner = false): Promise<string | null> {
  if (!hasBothHeads(join(folder, "data.mdb"))) return "data.mdb does not begin as a store does";
  let database: Database | null = null;
  try {
    database = open<number | Buffer, string>({
      path: folder,
      noSubdir: false,
      // Without a copy of each record, which would take half as long again.
      encoder: { encode: (value: Buffer) => value, decode: (record: Buffer) => keySumOf(record) },
      overlappingSync: false,
      eventTurnBatching: false,
    });
    return problemOf(database, isReadByOwner);
  } catch (error) {
    if (!isLmdbError(error)) throw error;
    return messageOf(error);
  } finally {
    await database?.close();
  }
}

function problemOf(database: Database, isReadByOwner: boolean): string | null {
  const stats = database.getStats() as Stats;
  const { records, isDamaged } = isReadByOwner
    ? { records: database.getKeysCount(), isDamaged: false }
    : countRecords(database);
  // If a page is damaged, lmdb continues with the pages that it can reach.
  if (records !== stats.entryCount) return `it holds ${records} records of ${stats.entryCount}`;
  if (!canBeWritten(database, stats)) return "the list of free places in data.mdb cannot be read";
  // Last, because a store may be of use without one of its records.
  return isDamaged ? damagedRecord : null;
}

/** Reads every record. */
function countRecords(database: Database): { readonly records: number; readonly isDamaged: boolean } {
  let records = 0;
  let isDamaged = false;
  for (const { key, value } of database.getRange()) {
    if (typeof value !== "number" || !isIntact(key, value)) isDamaged = true;
    records += 1;
  }
  return { records, isDamaged };
}

/** lmdb needs one head only: it would then show the records as they were before the last write. */
function hasBothHeads(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const word = Buffer.alloc(4);
    const isHead = (at: number) =>
      readSync(file, word, 0, word.length, at + MAGIC_AT) === word.length && word.readUInt32LE() === MAGIC;
    return isHead(0) && PAGE_SIZES.some(isHead);
  } finally {
    closeSync(file);
  }
}

/**
 * Allocates room for a record that fits into no free range, so lmdb searches its whole list of them. Then it
 * aborts: nothing reaches the disk. A record as large as all pages is enough, and a small one is made sooner.
 */
function canBeWritten(database: Database, { pageSize, lastPageNumber }: Stats): boolean {
  const key = "walk";
  const bytes = Math.min((lastPageNumber + 1) * pageSize, MOST_PROBE_BYTES);
  let isThere = false;
  database.transactionSync(() => {
    database.putSync(key, Buffer.alloc(bytes));
    isThere = database.get(key) !== undefined;
    return ABORT;
  });
  return isThere;
}

function isLmdbError(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return true;
  return typeof error.code === "number" && error.code >= OLDEST_LMDB_CODE && error.code <= NEWEST_LMDB_CODE;
}

/** A file system is read-only; the message is for people. */
export class DiskReadOnly extends Error {
  override readonly name = "DiskReadOnly";

  constructor(options?: ErrorOptions) {
    super("the disk is read-only; dmesg may say why", options);
  }
}

/** The number of EROFS on Linux: lmdb reports numbers. */
const EROFS = 30;

/** Whether the error is the answer to a write on a read-only file system. */
export function isReadOnlyError(error: unknown): boolean {
  const isNumbered = error instanceof Error && "code" in error && error.code === EROFS;
  return isNumbered || isCode(error, "EROFS");
}

/** Whether the file system of a file is read-only. */
export type IsReadOnly = (path: string) => boolean;

/**
 * Opens the file for writing: after an error of the disk the kernel refuses that, from memory, also while the
 * disk hangs. Since Linux 6.14, neither `access` nor the list of mounts shows it. Never throws; false for a
 * missing file.
 */
export function isReadOnly(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return false;
  } catch (error) {
    return isCode(error, "EROFS");
  }
}
