import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { open } from "lmdb";
import { type Clock, noLaterThan, systemClock } from "./clock.ts";
import { type FreeBytes, freeBytes } from "./disk-health.ts";
import { makeFolder } from "./folder.ts";
import { createTimeSlices, type LoopTimer, startLoopTimer } from "./loop-time.ts";
import { openRecord, sealRecord } from "./stores/record-seal.ts";
import { DiskReadOnly, type IsReadOnly, isReadOnly, isReadOnlyError } from "./stores/record-walk.ts";
import { createWorstLately } from "./work-times.ts";

/**
 * lmdb gives the cause in the same turn, or never: it may report the error before it makes the promise with
 * the cause.
 */
const GIVEN_WITHIN_MS = 1_000;

/**
 * Why lmdb has refused a commit. lmdb hides the disk's error in a promise of its own, which may stay pending.
 */
export async function commitCause(reason: unknown, clock: Pick<Clock, "after">): Promise<unknown> {
  if (!(reason instanceof Error) || !("commitError" in reason)) return reason;
  try {
    await noLaterThan(clock, GIVEN_WITHIN_MS, Promise.resolve(reason.commitError), null);
    return reason;
  } catch (cause) {
    return cause;
  }
}

/** One record to write; `value` undefined removes it. Values are JSON. */
export interface StoreChange {
  readonly key: string;
  readonly value: unknown;
}

/** A range of records, in the order of their keys. */
export interface StoreRange {
  /** From this key on, including it. */
  readonly from: string;
  /** Up to this key, without it. */
  readonly to: string;
  readonly limit?: number;
}

/** How much the disk has worked. `records / syncs` shows the gain of group commit. */
export interface StoreFigures {
  readonly records: number;
  readonly syncs: number;
  readonly failures: number;
  /** In the last minute, and so far in the present one; while the event loop stood still, no time counts. */
  readonly slowestMs: number;
}

/**
 * Records that survive a crash. Writes that come while a sync is under way share the next sync: group commit,
 * without a delay of its own.
 */
export interface Store {
  /** The value that was written last, once its write has resolved. Throws RecordDamaged. */
  get(key: string): unknown;
  /** Throws RecordDamaged at a damaged record. */
  range(range: StoreRange): Iterable<StoreChange>;
  /**
   * Writes all of `changes` or none. Resolves when they are on the disk; rejects
   * with StoreFailed when they may not be, or at once when too many writes wait.
   *
   * @param isUrgent it may use the room that is reserved for such writes
   */
  write(changes: readonly StoreChange[], isUrgent?: boolean): Promise<void>;
  figures(): StoreFigures;
  /** Waits for the writes under way. Refuses later ones. */
  close(): Promise<void>;
}

/** A store whose keys can be listed without reading a record, also where a record is damaged. */
export interface KeyedStore extends Store {
  keys(range: StoreRange): Iterable<string>;
}

/** A store that could not be opened: it has no record, and takes none. */
export function brokenStore(cause: unknown): KeyedStore {
  return {
    get() {
      throw cause;
    },
    range: () => [],
    keys: () => [],
    write: () => Promise.reject(cause),
    figures: () => ({ records: 0, syncs: 0, failures: 0, slowestMs: 0 }),
    close: () => Promise.resolve(),
  };
}

/** The disk is full, broken or gone. */
export class StoreFailed extends Error {
  override readonly name: string = "StoreFailed";
}

/** What a write rested on has changed since it was looked at. Nothing was written: look again. */
export class ChangedMeanwhile extends StoreFailed {
  override readonly name = "ChangedMeanwhile";
}

interface Waiting {
  readonly changes: readonly StoreChange[];
  readonly resolve: () => void;
  readonly reject: (cause: Error) => void;
}

/** The limit of lmdb without a rebuild, less a margin for its own encoding. */
const LONGEST_KEY_BYTES = 1_900;
/** The longest encoding of a UTF-16 unit: most keys are short enough without counting. */
const BYTES_A_CHARACTER = 3;
const MEGABYTE = 1_000_000;

/**
 * lmdb must never meet a full disk: if it cannot write a page, it overflows its own error buffer
 * (mdb_page_flush of lmdb 3.5.6), and the process dies of its damaged heap then or later. This is little for
 * a small box, and more than other programs write between the check and the commit.
 */
export const LEAST_FREE_BYTES = 8 * MEGABYTE;
/** Each record also costs a copied page, its branches and the list of free pages. */
const BYTES_ON_DISK_PER_BYTE = 4;
/** With so much room no group needs to be measured. */
const AMPLE_BYTES = 256 * MEGABYTE;
/** Writes that may wait for a disk that does not answer, and how many urgent ones beside them. */
const MOST_WAITING = 4_096;
const MORE_URGENT = 1_024;
/** How long lmdb is left alone after a commit that failed all the same. */
const REST_MS = 1_000;

/** The machine, as a test replaces it. */
export interface StoreParts {
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  readonly freeBytes: FreeBytes;
  /** Asked about the file that holds the records. */
  readonly isReadOnly: IsReadOnly;
  /** Called before and after the files are made or opened. */
  readonly beforeOpen?: () => void;
  readonly afterOpen?: () => void;
  /**
   * Called if somebody has removed the files while the store was open. With it, the records are written to
   * new files before the next commit; without it, they are lost when the process ends.
   */
  readonly onGone?: () => void;
}

/** The real machine. */
export const systemParts: StoreParts = { clock: systemClock, freeBytes, isReadOnly };

/**
 * Opens the directory `path` (made if it is missing) as an environment of its own. Throws StoreFailed if it
 * cannot be used. On a full disk an existing store can be read, and a missing one is empty; writes are
 * refused until there is room again.
 */
export function openStore(path: string, parts: StoreParts = systemParts): KeyedStore {
  let database = isMissingOnFullDisk(path, parts.freeBytes) ? null : openDatabase(path, parts);
  let isGivenUp = false;
  let last = { failure: null as unknown, restsUntilMs: Number.NEGATIVE_INFINITY };
  const figures = { records: 0, syncs: 0, failures: 0 };
  const delays = createWorstLately(parts.clock);
  let present: LoopTimer | null = null;
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let closed = false;

  async function drain(): Promise<void> {
    // The present turn ends first: its other writes belong to the same commit.
    await null;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const timer = startLoopTimer(parts.clock);
      present = timer;
      try {
        const records = await sealAll(group.flatMap((each) => each.changes));
        await commit(records);
        figures.records += records.length;
        figures.syncs += 1;
        for (const each of group) each.resolve();
      } catch (error) {
        figures.failures += 1;
        for (const each of group) each.reject(new StoreFailed(`cannot write to ${path}`, { cause: error }));
      }
      timer.stop();
      present = null;
      delays.note(timer.elapsedMs());
    }
    writing = null;
  }

  async function commit(records: readonly SealedRecord[]): Promise<void> {
    if (parts.clock.monotonicMs() < last.restsUntilMs) throw last.failure;
    // lmdb must not meet a read-only disk either: see LEAST_FREE_BYTES.
    if (parts.isReadOnly(join(path, "data.mdb"))) throw new DiskReadOnly();
    refuseWithoutRoom(parts.freeBytes(path), records);
    try {
      await commitNow(records);
    } catch (error) {
      const failure = isReadOnlyError(error) ? new DiskReadOnly({ cause: error }) : error;
      last = { failure, restsUntilMs: parts.clock.monotonicMs() + REST_MS };
      throw failure;
    }
  }

  async function commitNow(records: readonly SealedRecord[]): Promise<void> {
    let opened = current();
    if (opened !== null && parts.onGone !== undefined && !existsSync(join(path, "data.mdb")))
      opened = await copyToNewFiles(opened, path, parts);
    opened ??= openDatabase(path, parts);
    database = opened;
    try {
      // One transaction: all of it or nothing. The promises of single puts do not report a failure.
      await opened.batch(() => {
        for (const { key, bytes } of records) {
          if (bytes === null) void opened.remove(key);
          else void opened.put(key, bytes);
        }
      });
    } catch (error) {
      const cause = await commitCause(error, parts.clock);
      if (isDead(opened)) {
        await opened.close();
        isGivenUp = true;
      }
      throw cause;
    }
    await opened.flushed;
  }

  /** Opens an environment again after lmdb has given it up; null: it is not open, and no record is known. */
  function current(): Database | null {
    if (isGivenUp) database = openDatabase(path, parts);
    isGivenUp = false;
    return database;
  }

  return {
    get(key) {
      const record = current()?.get(key);
      return record === undefined ? undefined : openRecord(key, record);
    },
    *range({ from, to, limit }) {
      const options = limit === undefined ? { start: from, end: to } : { start: from, end: to, limit };
      for (const { key, value } of current()?.getRange(options) ?? [])
        yield { key, value: openRecord(key, value) };
    },
    keys: ({ from, to }) => current()?.getKeys({ start: from, end: to }) ?? [],
    write(changes, isUrgent = false) {
      const refusal = closed ? `${path} is closed` : refusalOf(changes, waiting.length, isUrgent);
      if (refusal !== null) return Promise.reject(new StoreFailed(refusal));
      return new Promise((resolve, reject) => {
        waiting.push({ changes, resolve, reject });
        writing ??= drain();
      });
    },
    figures() {
      return { ...figures, slowestMs: Math.max(present?.elapsedMs() ?? 0, delays.worst()) };
    },
    async close() {
      if (closed) return;
      closed = true;
      await writing;
      if (!isGivenUp) await database?.close();
    },
  };
}

/** Why a write is refused at once; null: it may wait. */
function refusalOf(changes: readonly StoreChange[], waiting: number, isUrgent: boolean): string | null {
  if (changes.some(({ key }) => isTooLong(key))) return "a key is too long";
  const most = MOST_WAITING + (isUrgent ? MORE_URGENT : 0);
  return waiting < most ? null : `${waiting} writes wait for the disk`;
}

function isTooLong(key: string): boolean {
  return key.length * BYTES_A_CHARACTER > LONGEST_KEY_BYTES && Buffer.byteLength(key) > LONGEST_KEY_BYTES;
}

/** lmdb maps its files into memory: making them on a full disk ends the process with SIGBUS. */
export function isMissingOnFullDisk(path: string, freeOf: FreeBytes = freeBytes): boolean {
  const isThere = existsSync(join(path, "data.mdb")) && existsSync(join(path, "lock.mdb"));
  const free = freeOf(path);
  return !isThere && free !== null && free < LEAST_FREE_BYTES;
}

/** A record as it is on the disk; null: it is removed. */
interface SealedRecord {
  readonly key: string;
  readonly bytes: Buffer | null;
}

/** In time slices: a slow disk leaves thousands of records to the next commit. */
async function sealAll(changes: readonly StoreChange[]): Promise<readonly SealedRecord[]> {
  const slices = createTimeSlices();
  const sealed: SealedRecord[] = [];
  for (const { key, value } of changes) {
    sealed.push({ key, bytes: value === undefined ? null : sealRecord(key, value) });
    const slice = slices.next();
    if (slice !== undefined) await slice;
  }
  return sealed;
}

function refuseWithoutRoom(free: number | null, records: readonly SealedRecord[]): void {
  if (free === null || free >= AMPLE_BYTES) return;
  const needed = LEAST_FREE_BYTES + BYTES_ON_DISK_PER_BYTE * sizeOf(records);
  if (free >= needed) return;
  throw new Error(`the disk is full: ${roomText(free, needed)}`);
}

function roomText(free: number, needed: number): string {
  return `${megabytes(free)} MB free, at least ${megabytes(needed)} are needed`;
}

function sizeOf(records: readonly SealedRecord[]): number {
  return records.reduce((sum, { key, bytes }) => sum + key.length + (bytes?.length ?? 0), 0);
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}

type Database = ReturnType<typeof openDatabase>;

/** lmdb's error code for an environment that it has given up. */
const MDB_PANIC = -30_795;

/**
 * Whether lmdb has given the environment up, which it does if the last write of a commit fails. It can no
 * longer be read, and its next commit would neither succeed nor fail.
 */
function isDead(database: Database): boolean {
  try {
    // Otherwise an older read transaction would be used.
    database.resetReadTxn();
    database.get("");
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === MDB_PANIC;
  }
}

/** lmdb still reads removed files. A write to them would succeed, and be lost. */
async function copyToNewFiles(old: Database, path: string, parts: StoreParts): Promise<Database> {
  const folder = dirname(path);
  let bytes = 0;
  for (const { key, value } of old.getRange()) bytes += key.length + value.length;
  const needed = LEAST_FREE_BYTES + BYTES_ON_DISK_PER_BYTE * bytes;
  const free = parts.freeBytes(folder);
  if (free !== null && free < needed)
    throw new Error(`${path} was removed, and the disk is full: ${roomText(free, needed)}`);
  await makeFolder(path);
  // The new files must not share the locks of the old ones.
  rmSync(join(path, "lock.mdb"), { force: true });
  const copy = openDatabase(path, parts);
  try {
    await copy.batch(() => {
      for (const { key, value } of old.getRange()) void copy.put(key, value);
    });
    await copy.flushed;
  } catch (error) {
    const cause = await commitCause(error, parts.clock);
    await copy.close();
    // The next commit begins again.
    rmSync(join(path, "data.mdb"), { force: true });
    throw cause;
  }
  await old.close();
  parts.onGone?.();
  return copy;
}

function openDatabase(path: string, { beforeOpen, afterOpen }: StoreParts) {
  try {
    beforeOpen?.();
    const database = open<Buffer, string>({
      path,
      noSubdir: false,
      encoding: "binary",
      // A commit resolves only after its own sync: the next one waits for it.
      overlappingSync: false,
      // lmdb's automatic transactions reject a promise that nobody holds when the disk fails: the process
      // would end.
      eventTurnBatching: false,
    });
    afterOpen?.();
    return database;
  } catch (error) {
    throw new StoreFailed(`cannot open the store ${path}`, { cause: error });
  }
}
