import type { Journal, JournalEntry, JournalLimits } from "./journal.ts";

/** A journal that lives as long as the process: for a demo, and where no directory was given. */
export function createMemoryJournal(limits: JournalLimits): Journal {
  const entries = new Map<string, JournalEntry>();
  return {
    find: (id) => entries.get(id),
    unfinished: () => [...entries.values()].filter((entry) => entry.outcome === null),
    write(entry) {
      entries.set(entry.id, entry);
      return Promise.resolve();
    },
    // It ends with the process, and so do the leases, and whose missions are whose.
    made: () => [],
    ended: () => [],
    leases: () => [],
    writeLease: () => Promise.resolve(),
    prune(nowMs) {
      let excess = entries.size - limits.keepCount;
      for (const entry of entries.values()) {
        if (entry.outcome === null) continue;
        if (excess <= 0 && nowMs - entry.acceptedAtMs <= limits.keepMs) break;
        entries.delete(entry.id);
        excess -= 1;
      }
      return Promise.resolve(false);
    },
    figures: () => ({ journalEntries: entries.size }),
    close: () => Promise.resolve(),
  };
}
