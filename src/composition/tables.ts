import type { Cancel, Clock } from "../platform/clock.ts";
import { describeError } from "../platform/error-text.ts";
import type { Log } from "../platform/log.ts";
import { brokenStore, type KeyedStore } from "../platform/store.ts";
import { StoreTooNew } from "../platform/stores/kept-store.ts";
import { createLmdbStore } from "../platform/stores/lmdb-store.ts";
import type { StoreFormat } from "../platform/stores/store-marks.ts";
import { createWriteBehind, type WriteBehind } from "../platform/stores/write-behind.ts";
import { takeFiles } from "./earlier-files.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const tablesFormat: StoreFormat = { store: "tables", version: 1 };

/** All that survives a restart and is not needed for the promise about commands or events. */
export interface Tables extends WriteBehind {
  /** Writes the rest, and closes the store. */
  close(): Promise<void>;
}

export interface TablesParts {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Whether the program may give way to an earlier one. */
  readonly isOnTrial: () => boolean;
}

const TRIAL_LOOK_MS = 1_000;

/**
 * Opens the tables, with what a restore or an earlier version has left in files. Nothing in them is worth a
 * gateway that does not start, but for a newer program's: rejects with StoreTooNew.
 *
 * @param openRecords checks and opens their environment
 */
export async function openTables(
  openRecords: () => Promise<KeyedStore>,
  dataDir: string,
  { clock, log, isOnTrial }: TablesParts,
): Promise<Tables> {
  const records = await openRecords().catch((error: unknown) => {
    if (error instanceof StoreTooNew) throw error;
    log.error({ dataDir, cause: describeError(error) }, "the tables cannot be opened: all begin empty");
    return brokenStore(error);
  });
  const store = createLmdbStore(records, log);
  const removeFiles = await takeFiles(dataDir, store, log).catch((error: unknown) => {
    log.error({ dataDir, cause: describeError(error) }, "the files of an earlier version cannot be taken");
    return () => {};
  });
  const { table, keep, flushed } = createWriteBehind(store, clock, log);
  let cancel: Cancel = () => {};

  function removeAfterTrial(): void {
    if (isOnTrial()) cancel = clock.after(TRIAL_LOOK_MS, removeAfterTrial);
    else removeFiles();
  }

  removeAfterTrial();
  return {
    table,
    keep,
    flushed,
    async close() {
      cancel();
      if (!isOnTrial()) removeFiles();
      await flushed();
      await records.close();
    },
  };
}
