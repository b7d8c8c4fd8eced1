import type { Journal, JournalLimits, JournalRecord } from "./journal.ts";
import { createJournalShares } from "./journal-shares.ts";

/** A journal that lives as long as the process: for a demo, and where no directory was given. */
export function createMemoryJournal(limits: JournalLimits): Journal {
  const shares = createJournalShares();
  const entries = new Map<string, JournalRecord>();
  const finished = new Map<number, JournalRecord>();
  let nextPlace = 1;

  function drop(place: number, entry: JournalRecord): void {
    entries.delete(entry.id);
    finished.delete(place);
    shares.remove(entry, place);
  }

  return {
    find: (id) => entries.get(id),
    unfinished: () => [...entries.values()].filter((entry) => entry.outcome === null),
    write(entry) {
      if (entry.outcome !== null && (entries.get(entry.id)?.outcome ?? null) === null) {
        finished.set(nextPlace, entry);
        shares.add(entry, nextPlace);
        nextPlace += 1;
      }
      entries.set(entry.id, entry);
      return Promise.resolve();
    },
    // It ends with the process, and so do leases and holds, and whose missions are whose.
    made: () => [],
    ended: () => [],
    leases: () => [],
    writeLease: () => Promise.resolve(),
    holds: () => [],
    writeHold: () => Promise.resolve(),
    prune(nowMs) {
      for (const [place, entry] of finished) {
        if (nowMs - entry.acceptedAtMs > limits.keepMs) drop(place, entry);
      }
      while (entries.size > limits.keepCount && finished.size > 0) {
        for (const place of shares.next(entries.size - limits.keepCount)) {
          const entry = finished.get(place);
          if (entry !== undefined) drop(place, entry);
        }
      }
      return Promise.resolve(false);
    },
    figures: () => ({ journalEntries: entries.size }),
    close: () => Promise.resolve(),
  };
}
