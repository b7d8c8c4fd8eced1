import { BoundedMap } from "../../platform/bounded-map.ts";
import { type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import { StoreFailed } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";
import type { OwnTableStore, TableChange } from "../../platform/stores/table-store.ts";
import type { DamagedRecord, Journal, JournalLimits, JournalRecord, WatchedJournal } from "./journal.ts";
import { createJournalIndex, type JournalIndex, type JournalShares } from "./journal-index.ts";
import {
  type JournalTables,
  lacksRecord,
  openJournalTables,
  orderKey,
  packRecord,
  storedClaims,
  unpackRecord,
} from "./stored-record.ts";

/** A store of an older version is put aside as lost: its records are not read. */
export const journalFormat: StoreFormat = { store: "journal", version: 4 };

/** How many records one pruning reads: commands wait meanwhile. */
const PRUNE_STEP = 200;
/** A record, and its place in the order. */
const CHANGES_OF_RECORD = 2;
/** How many outcomes that the disk had refused are written at once. */
const MISSED_STEP = 200;
/** Nobody reads it. */
const probe: TableChange = { table: "probe", key: "probe", value: true };
/**
 * Outcomes that the disk has refused stay in memory until it takes them: a sender that asks again in this run
 * gets the same one.
 */
const MAX_UNKEPT = 10_000;
/** Identities that were not found and are likely to be written next: more than come in one turn. */
const MAX_MISSING = 1_000;

/**
 * The journal on a store of its own. The table `commands` has the record of a command by its identity, and
 * `order` the identity by a number, so that the oldest are found without reading all. Both are written in one
 * transaction. Throws if the store holds a record that cannot be read: then nobody knows what was sent.
 *
 * @param time records age by it
 * @param loss why earlier records are lost, until an operator has confirmed it: meanwhile only stops are
 * recorded, so nothing else is sent
 * @param index of all its records; otherwise each is read
 */
export function openDurableJournal(
  store: OwnTableStore,
  limits: JournalLimits,
  time: RunningTime,
  loss: string | null = null,
  index: JournalIndex = readIndex(store),
): Journal {
  const { shares } = index;
  const tables = openJournalTables(store);
  time.atLeast(index.newestMs());
  const unfinished = index.unfinished();
  const made = index.made();
  const ended = index.ended();
  const unkept = new BoundedMap<string, JournalRecord>(MAX_UNKEPT);
  const pending = new Map<string, JournalRecord>();
  /** Identities without a record: looking again would cost as much as writing it. */
  const missing = new BoundedMap<string, true>(MAX_MISSING);
  /** Numbers of commands with nothing on the disk yet. */
  const unnumbered = new Map<string, number>();
  /** Numbers of unfinished commands: reading a record only for its number would cost more than its sync. */
  const { numbered } = index;
  const { find, at, isDamaged } = createReader(tables);
  let nextNumber = index.nextNumber();

  function numberOf(id: string): number | undefined {
    if (numbered.has(id)) return undefined;
    const number = unnumbered.get(id);
    if (number !== undefined || (!missing.delete(id) && find(id) !== undefined)) return number;
    unnumbered.set(id, nextNumber);
    nextNumber += 1;
    return nextNumber - 1;
  }

  /**
   * With a shared store the dispatcher writes the outcome of a start again by itself, for it must look first
   * whether a stop has come meanwhile.
   */
  const isWrittenAgain = (record: JournalRecord) => store.permits !== undefined && !isStop(record);

  async function write(record: JournalRecord): Promise<void> {
    const changes = [tables.commands.put(record.id, packRecord(record, time.totalMs()))];
    // `find` returns it at once; lmdb returns a record only when it is committed.
    pending.set(record.id, record);
    try {
      const number = numberOf(record.id);
      if (number !== undefined) changes.push(tables.order.put(orderKey(number), record.id));
      if (loss !== null && !isStop(record)) throw new StoreFailed(loss);
      await store.write(changes, isStop(record));
      unkept.delete(record.id);
      const known = numbered.get(record.id) ?? unnumbered.get(record.id);
      unnumbered.delete(record.id);
      if (record.outcome !== null) numbered.delete(record.id);
      else if (known !== undefined) numbered.set(record.id, known);
      if (record.outcome !== null && known !== undefined) shares.add(record, known);
    } catch (error) {
      if (record.outcome !== null && !isWrittenAgain(record)) unkept.set(record.id, record);
      throw error;
    } finally {
      if (pending.get(record.id) === record) pending.delete(record.id);
      if (!pending.has(record.id)) unnumbered.delete(record.id);
    }
  }

  return {
    find(id) {
      const record = pending.get(id) ?? unkept.get(id) ?? find(id);
      if (record === undefined) missing.set(id, true);
      return record;
    },
    isOnDisk: (id) => !pending.has(id) && unkept.get(id) === undefined,
    unfinished: () => unfinished,
    made: () => made,
    ended: () => ended,
    write,
    permits: (id) => store.permits?.("commands", id) ?? true,
    ...storedClaims(store),
    prune: () => prune({ store, tables, at, shares, limits, time, size: shares.size() + numbered.size }),
    writeProbe: () => store.write([probe]),
    async writeMissed() {
      const missed = [...unkept.values()].filter((record) => loss === null || isStop(record));
      const some = missed.slice(0, MISSED_STEP);
      await Promise.all(some.map(write));
      return some.length > 0;
    },
    isDamaged,
    figures() {
      const { records, syncs, failures } = store.figures();
      return {
        journalEntries: shares.size() + numbered.size,
        journalRecords: records,
        journalSyncs: syncs,
        journalFailures: failures,
      };
    },
    close: () => store.close(),
  };
}

interface PruneParts {
  readonly store: OwnTableStore;
  readonly tables: JournalTables;
  readonly at: Reader["at"];
  readonly shares: JournalShares;
  readonly limits: JournalLimits;
  readonly time: RunningTime;
  /** Of the whole journal. */
  readonly size: number;
}

/**
 * Drops records that are too old, or too many.
 *
 * @returns whether there may be more
 */
async function prune(parts: PruneParts): Promise<boolean> {
  const { store, tables, at, shares, limits, size } = parts;
  const excess = Math.min(PRUNE_STEP, size - limits.keepCount);
  const wanted = new Set([...expired(parts), ...(excess > 0 ? shares.next(excess) : [])]);
  const { mostChanges = Number.POSITIVE_INFINITY } = store;
  const numbers = [...wanted].slice(0, mostChanges / CHANGES_OF_RECORD);
  const dropped: Array<readonly [JournalRecord, number]> = [];
  const changes: TableChange[] = [];
  for (const number of numbers) {
    const found = at(number);
    if (typeof found !== "object") shares.forget(number);
    else if (found.record.outcome !== null) {
      changes.push(tables.order.remove(orderKey(number)), tables.commands.remove(found.record.id));
      dropped.push([found.record, number]);
    }
  }
  if (changes.length === 0) return false;
  await store.write(changes);
  for (const [record, number] of dropped) shares.remove(record, number);
  return true;
}

/** The numbers of finished commands whose time is over. */
function expired({ at, shares, limits, time }: PruneParts): readonly number[] {
  const oldestMs = time.totalMs() - limits.keepMs;
  const numbers: number[] = [];
  for (const list of shares.lists()) {
    for (const number of list) {
      const found = at(number);
      const isYoung = typeof found === "object" && found.runningMs >= oldestMs;
      if (isYoung || numbers.length === PRUNE_STEP) break;
      numbers.push(number);
    }
  }
  return numbers;
}

type Reader = ReturnType<typeof createReader>;

/** Reads records while the journal runs. A damaged one is kept and reported. */
function createReader({ commands, order }: JournalTables) {
  let isDamaged = false;

  function read<T>(take: () => T | undefined): T | DamagedRecord | undefined {
    try {
      return take();
    } catch (error) {
      if (!(error instanceof RecordDamaged)) throw error;
      isDamaged = true;
      return "damaged";
    }
  }

  function recordOf(id: string) {
    const stored = commands.get(id);
    return stored && { record: unpackRecord(id, stored), runningMs: stored.runningMs };
  }

  return {
    find: (id: string) => read(() => recordOf(id)?.record),
    at: (number: number) =>
      read(() => {
        const id = order.get(orderKey(number));
        return id === undefined ? undefined : recordOf(id);
      }),
    isDamaged: () => isDamaged,
  };
}

/** Reads all records. Throws if one cannot be read. */
function readIndex(store: OwnTableStore): JournalIndex {
  const tables = openJournalTables(store);
  const index = createJournalIndex();
  for (const [key, id] of tables.order.entries()) {
    const stored = tables.commands.get(id);
    if (stored === undefined) throw lacksRecord();
    index.add(Number(key), id, stored);
  }
  return index;
}

function isStop({ command }: JournalRecord): boolean {
  return command.effect === "stops";
}

const PRUNE_PERIOD_MS = 10_000;

export interface PruningParts {
  readonly journal: Pick<WatchedJournal, "prune" | "isWritable" | "writeProbe" | "writeMissed">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Removes records from the journal that need no longer be kept, every few seconds until the signal is
 * aborted. A disk that has failed is tried first: otherwise its health would wait for the next command.
 * Outcomes that it refused are written as soon as it takes them.
 */
export function pruneJournal({ journal, clock, log, signal }: PruningParts): void {
  let isPruning = false;

  /** Step by step: commands go on in between. */
  async function prune(): Promise<void> {
    try {
      if (!journal.isWritable()) await journal.writeProbe();
      while (!signal.aborted && (await journal.writeMissed()));
      while (!signal.aborted && (await journal.prune()));
    } catch (error) {
      log.warn({ err: error }, "the journal could not be pruned");
    }
    isPruning = false;
  }

  every(clock, PRUNE_PERIOD_MS, signal, () => {
    if (isPruning) return;
    isPruning = true;
    void prune();
  });
}
