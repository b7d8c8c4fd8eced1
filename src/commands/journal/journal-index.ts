import { type Source, sourceKey } from "../../domain/command.ts";
import { BoundedMap } from "../../platform/bounded-map.ts";
import { type EndedCommand, type JournalRecord, type MadeMission, madeBy } from "./journal.ts";
import { lacksRecord, type StoredRecord, unpackRecord } from "./stored-record.ts";

/** What a journal keeps in memory of its records: whoever has it opens a journal without reading them. */
export interface JournalIndex {
  readonly shares: JournalShares;
  /** Numbers of unfinished commands. */
  readonly numbered: Map<string, number>;
  /** One more than the highest number. */
  nextNumber(): number;
  /** The longest running time at which a record was written. */
  newestMs(): number;
  /** Records without an outcome, oldest first. */
  unfinished(): readonly JournalRecord[];
  /** The newest missions and ends, as `Journal` has them. */
  made(): readonly MadeMission[];
  ended(): readonly EndedCommand[];
}

/** An index that is being made. */
export interface OpenIndex extends JournalIndex {
  /** There is a record with this number. One of an unfinished command may be followed by its end. */
  add(number: number, id: string, stored: StoredRecord): JournalRecord;
  /** The record of an unfinished command is gone. */
  drop(id: string): void;
}

/** How many missions of earlier runs are attributed: more than a fleet can still have in hand. */
const MAX_MADE = 20_000;
/** How many ends of earlier runs are searched in the audit log: more than a crash can lose. */
const MAX_ENDED = 10_000;

export function createJournalIndex(): OpenIndex {
  const shares = createJournalShares();
  const numbered = new Map<string, number>();
  const unfinished = new Map<string, JournalRecord>();
  const made = new BoundedMap<string, MadeMission>(MAX_MADE);
  let ended: EndedCommand[] = [];
  let nextNumber = 1;
  let newestMs = 0;

  function drop(id: string): void {
    numbered.delete(id);
    unfinished.delete(id);
  }

  return {
    shares,
    numbered,
    nextNumber: () => nextNumber,
    newestMs: () => newestMs,
    unfinished: () =>
      [...unfinished.values()].sort((a, b) => (numbered.get(a.id) ?? 0) - (numbered.get(b.id) ?? 0)),
    made: () => [...made.values()],
    ended: () => newest([...new Map(ended.map((each) => [each.id, each])).values()]),
    add(number, id, stored) {
      if (!Number.isSafeInteger(number)) throw lacksRecord();
      const record = unpackRecord(id, stored);
      const { runningMs } = stored;
      nextNumber = Math.max(nextNumber, number + 1);
      newestMs = Math.max(newestMs, runningMs);
      if (record.outcome === null) {
        numbered.set(id, number);
        unfinished.set(id, record);
        return record;
      }
      drop(id);
      shares.add(record, number);
      for (const mission of madeBy(record)) made.set(mission.missionId, mission);
      if (record.finalAtMs !== null) ended.push({ id, finalAtMs: record.finalAtMs, runningMs });
      if (ended.length >= 2 * MAX_ENDED) ended = newest(ended);
      return record;
    },
    drop,
  };
}

/** By their ends: the first to come may have been the last to end. */
function newest(ended: readonly EndedCommand[]): EndedCommand[] {
  return [...ended].sort((a, b) => a.runningMs - b.runningMs || a.finalAtMs - b.finalAtMs).slice(-MAX_ENDED);
}

/** What the shares must know of a record. */
export interface SharedRecord {
  readonly sentAtMs: number | null;
  readonly command: { readonly source: Source };
}

/**
 * Shares the journal among sources: to which source each finished command belongs. If there are too many,
 * commands that were never sent are dropped first, then the oldest of the source with the most. So a client
 * that sends without end does not make the gateway forget the commands of another one.
 */
export interface JournalShares {
  add(record: SharedRecord, number: number): void;
  remove(record: SharedRecord, number: number): void;
  /** Removes a number whose record cannot be read: that record is never dropped. */
  forget(number: number): void;
  /** The numbers of each source, in the order of their ends. */
  lists(): Iterable<Iterable<number>>;
  /** Numbers of finished commands in all. */
  size(): number;
  /**
   * The numbers to drop next, oldest first, at most `most`: of commands that were never sent while there are
   * any. All belong to the source with the most, which keeps at least as many as the next source; but at
   * least one is dropped.
   */
  next(most: number): readonly number[];
}

/** By source, oldest first. */
type Numbers = Map<string, Set<number>>;

export function createJournalShares(): JournalShares {
  const unsent: Numbers = new Map();
  const sent: Numbers = new Map();
  const numbersOf = ({ sentAtMs }: SharedRecord) => (sentAtMs === null ? unsent : sent);
  let size = 0;

  function take(bySource: Numbers, key: string, number: number): void {
    const numbers = bySource.get(key);
    if (numbers?.delete(number) !== true) return;
    size -= 1;
    if (numbers.size === 0) bySource.delete(key);
  }

  return {
    add(record, number) {
      const bySource = numbersOf(record);
      const key = sourceKey(record.command.source);
      const numbers = bySource.get(key) ?? new Set();
      bySource.set(key, numbers.add(number));
      size += 1;
    },
    remove: (record, number) => take(numbersOf(record), sourceKey(record.command.source), number),
    forget(number) {
      for (const bySource of [unsent, sent]) {
        for (const key of bySource.keys()) take(bySource, key, number);
      }
    },
    lists: () => [...unsent.values(), ...sent.values()],
    size: () => size,
    next: (most) => ofLargest(unsent.size > 0 ? unsent : sent, most),
  };
}

function ofLargest(bySource: Numbers, most: number): readonly number[] {
  let largest: ReadonlySet<number> = new Set();
  let second = 0;
  for (const numbers of bySource.values()) {
    if (numbers.size > largest.size) {
      second = largest.size;
      largest = numbers;
    } else second = Math.max(second, numbers.size);
  }
  return firstOf(largest, Math.min(most, Math.max(1, largest.size - second)));
}

function firstOf(numbers: Iterable<number>, most: number): readonly number[] {
  const first: number[] = [];
  for (const number of numbers) {
    if (first.length >= most) break;
    first.push(number);
  }
  return first;
}
