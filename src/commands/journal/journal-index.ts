import { BoundedMap } from "../../platform/bounded-map.ts";
import { type EndedCommand, type JournalRecord, type MadeMission, madeBy } from "./journal.ts";
import { createJournalShares, type JournalShares } from "./journal-shares.ts";
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
