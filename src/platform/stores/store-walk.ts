import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { ABORT, open } from "lmdb";
import { messageOf } from "../error-text.ts";
import { damagedRecord, isIntact, keySumOf } from "./record-seal.ts";

// A program of its own, `node store-walk.js <folder>`: reads every record of a store and prints what it
// found, as one JSON line. A damaged file may end it by a signal at any step, and that is an answer too
// (store-check.ts).

/** What the program prints; without `problem` the store can be opened by anybody. */
export interface WalkReport {
  readonly problem?: string;
}

/** lmdb's own errors (lmdb.h); whatever else comes is the machine's. */
const OLDEST_LMDB_CODE = -30_799;
const NEWEST_LMDB_CODE = -30_700;
/** The smallest page there is; lmdb takes that of the machine. */
const PAGE_BYTES = 4_096;
const PAGE_SIZES = [PAGE_BYTES, 2 * PAGE_BYTES, 4 * PAGE_BYTES, 8 * PAGE_BYTES, 16 * PAGE_BYTES];
/** Both heads of the file, each a page long, have this word at this place. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
/** No free place in the file is so large, so lmdb looks at the whole list of them. */
const PROBE_BYTES = 16_000_000;

function walk(folder: string): WalkReport {
  if (!hasBothHeads(join(folder, "data.mdb"))) return { problem: "data.mdb does not begin as a store does" };
  const database = open<number | Buffer, string>({
    path: folder,
    noSubdir: false,
    // Without a copy of each record, which would take half as long again.
    encoder: { encode: (value: Buffer) => value, decode: (record: Buffer) => keySumOf(record) },
    overlappingSync: false,
    eventTurnBatching: false,
  });
  const { entryCount } = database.getStats() as { readonly entryCount: number };
  let records = 0;
  for (const { key, value } of database.getRange()) {
    if (typeof value !== "number" || !isIntact(key, value)) return { problem: damagedRecord };
    records += 1;
  }
  // Where a page is no page of its kind any more, lmdb goes on with what it can reach.
  if (records !== entryCount) return { problem: `it holds ${records} records of ${entryCount}` };
  if (!canBeWritten(database)) return { problem: "the list of free places in data.mdb cannot be read" };
  return {};
}

/** One head would do for lmdb: it would show the records as they were before the last write. */
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

/** Takes room for a large record, and gives it back: nothing reaches the disk. */
function canBeWritten(database: ReturnType<typeof open<number | Buffer, string>>): boolean {
  const key = "walk";
  let isThere = false;
  database.transactionSync(() => {
    database.putSync(key, Buffer.alloc(PROBE_BYTES));
    isThere = database.get(key) !== undefined;
    return ABORT;
  });
  return isThere;
}

function isLmdbError(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return true;
  return typeof error.code === "number" && error.code >= OLDEST_LMDB_CODE && error.code <= NEWEST_LMDB_CODE;
}

try {
  process.stdout.write(JSON.stringify(walk(process.argv[2] ?? "")));
} catch (error) {
  if (!isLmdbError(error)) throw error;
  process.stdout.write(JSON.stringify({ problem: messageOf(error) }));
}
