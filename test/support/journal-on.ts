import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import type { Journal, JournalLimits } from "../../src/commands/journal/journal.ts";
import { silentLog } from "../../src/platform/log.ts";
import type { RunningTime } from "../../src/platform/running-time.ts";
import type { Store } from "../../src/platform/store.ts";
import { createLmdbStore } from "../../src/platform/stores/lmdb-store.ts";

/** The journal on the records of a store. */
export function openJournalOn(
  records: Store,
  limits: JournalLimits,
  time: RunningTime,
  loss: string | null = null,
): Journal {
  // The keys of a table that is lost; no table of the journal begins empty.
  const store = createLmdbStore({ ...records, keys: () => [] }, silentLog);
  return openDurableJournal(store, limits, time, loss);
}
