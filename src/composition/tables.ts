import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Cancel, Clock } from "../platform/clock.ts";
import { describeError } from "../platform/error-text.ts";
import type { Log } from "../platform/log.ts";
import { brokenStore, type KeyedStore } from "../platform/store.ts";
import { StoreTooNew } from "../platform/stores/kept-store.ts";
import { createLmdbStore } from "../platform/stores/lmdb-store.ts";
import { type StoreFormat, syncFolder } from "../platform/stores/store-marks.ts";
import { replacement, type TableStore, type TablesContent } from "../platform/stores/table-store.ts";
import { EXPORT_FILE, readExport } from "../platform/stores/tables-export.ts";
import { createWriteBehind, type WriteBehind } from "../platform/stores/write-behind.ts";

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
 * Opens the tables, with what a restore has left in a file. Nothing in them is worth a gateway that does not
 * start, but for a newer program's: rejects with StoreTooNew.
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
  const removeExport = await takeExport(join(dataDir, EXPORT_FILE), store, log);
  const { table, keep, flushed } = createWriteBehind(store, clock, log);
  let cancel: Cancel = () => {};

  function removeAfterTrial(): void {
    if (isOnTrial()) cancel = clock.after(TRIAL_LOOK_MS, removeAfterTrial);
    else removeExport();
  }

  removeAfterTrial();
  return {
    table,
    keep,
    flushed,
    async close() {
      cancel();
      if (!isOnTrial()) removeExport();
      await flushed();
      await records.close();
    },
  };
}

/**
 * Puts into the tables what a restore has left in a file, in place of what they have. A file that cannot be
 * read is put aside.
 *
 * @returns removes the file: its content is on the disk. Until then each start reads it anew
 */
async function takeExport(path: string, store: TableStore, log: Log): Promise<() => void> {
  if (!existsSync(path)) return () => {};
  const content = readOrPutAside(path, log);
  if (content === null) return () => {};
  try {
    await store.write(replacement(store, content));
  } catch (error) {
    const cause = describeError(error);
    log.error({ path, cause }, "the tables do not take what this file holds: the next start tries it again");
    return () => {};
  }
  let isRemoved = false;
  return () => {
    // A file that comes there later is another one.
    if (isRemoved) return;
    try {
      rmSync(path, { force: true });
      syncFolder(dirname(path));
      isRemoved = true;
    } catch (error) {
      log.error(
        { path, cause: describeError(error) },
        "a file is not removed: the next start takes it again",
      );
    }
  };
}

function readOrPutAside(path: string, log: Log): TablesContent | null {
  try {
    return readExport(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    const keptAs = `${path}.damaged`;
    log.error({ path, keptAs, cause: describeError(error) }, "a file cannot be read: it is put aside");
    try {
      renameSync(path, keptAs);
    } catch (cause) {
      log.error({ path, cause: describeError(cause) }, "the file cannot be put aside");
    }
    return null;
  }
}
