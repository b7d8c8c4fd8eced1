import type { Journal, JournalLimits, JournalRecord } from "../../src/commands/journal/journal.ts";
import { createJournalShares } from "../../src/commands/journal/journal-index.ts";
import type { RunningTime } from "../../src/platform/running-time.ts";
import { noRunningTime } from "./no-running-time.ts";

/** A journal that lives as long as the process. */
export function createMemoryJournal(limits: JournalLimits, time: RunningTime = noRunningTime): Journal {
  const shares = createJournalShares();
  const records = new Map<string, JournalRecord>();
  const finished = new Map<number, { readonly record: JournalRecord; readonly writtenMs: number }>();
  let nextNumber = 1;

  function drop(number: number, record: JournalRecord): void {
    records.delete(record.id);
    finished.delete(number);
    shares.remove(record, number);
  }

  return {
    find: (id) => records.get(id),
    isOnDisk: () => true,
    unfinished: () => [...records.values()].filter((record) => record.outcome === null),
    write(record) {
      if (record.outcome !== null && (records.get(record.id)?.outcome ?? null) === null) {
        finished.set(nextNumber, { record, writtenMs: time.totalMs() });
        shares.add(record, nextNumber);
        nextNumber += 1;
      }
      records.set(record.id, record);
      return Promise.resolve();
    },
    permits: () => true,
    // Nothing of it survives the process.
    made: () => [],
    ended: () => [],
    leases: () => [],
    writeLease: () => Promise.resolve(),
    runs: () => new Map(),
    writeRuns: () => Promise.resolve(),
    holds: () => [],
    writeHold: () => Promise.resolve(),
    prune() {
      for (const [number, { record, writtenMs }] of finished) {
        if (time.totalMs() - writtenMs > limits.keepMs) drop(number, record);
      }
      while (records.size > limits.keepCount && finished.size > 0) {
        for (const number of shares.next(records.size - limits.keepCount)) {
          const found = finished.get(number);
          if (found !== undefined) drop(number, found.record);
        }
      }
      return Promise.resolve(false);
    },
    writeProbe: () => Promise.resolve(),
    writeMissed: () => Promise.resolve(false),
    isDamaged: () => false,
    figures: () => ({ journalEntries: records.size }),
    close: () => Promise.resolve(),
  };
}
