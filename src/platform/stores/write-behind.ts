import type { Cancel, Clock } from "../clock.ts";
import { describeError, type Log } from "../log.ts";
import { noLaterThan } from "../within.ts";
import type { TableChange, TableStore } from "./table-store.ts";

/** Tables that are written without anybody waiting for it. Never throws. */
export interface WriteBehind extends Pick<TableStore, "table"> {
  /** Writes it now. What the disk refuses is written again, each record as it is then. */
  keep(changes: readonly TableChange[]): void;
  /**
   * Resolves with whether all that was kept until now is on the disk; false also when the disk has not
   * answered in time.
   */
  flushed(): Promise<boolean>;
}

const RETRY_MS = 5_000;
/** After this time, callers get the answer that the disk has not answered. */
const ANSWER_MS = 1_000;

export function createWriteBehind(store: TableStore, clock: Pick<Clock, "after">, log: Log): WriteBehind {
  /** The newest change of each record. */
  let waiting = new Map<string, TableChange>();
  let writing: Promise<void> | null = null;
  let retry: Cancel | null = null;
  let isRefused = false;

  function begin(): void {
    if (writing !== null || waiting.size === 0) return;
    retry?.();
    retry = null;
    writing = write().finally(() => {
      writing = null;
      if (!isRefused) begin();
    });
  }

  async function write(): Promise<void> {
    // The present turn ends first: its other changes belong to the same write.
    await null;
    const taken = waiting;
    waiting = new Map();
    try {
      await store.write([...taken.values()]);
      if (isRefused) log.info({}, "what a restart must know is kept again");
      isRefused = false;
    } catch (error) {
      const tables = [...new Set(Array.from(taken.values(), ({ table }) => table))];
      const cause = describeError(error);
      if (!isRefused) log.warn({ tables, cause }, "what a restart must know is not kept");
      isRefused = true;
      waiting = new Map([...taken, ...waiting]);
      retry = clock.after(RETRY_MS, begin);
    }
  }

  /** The write under way, and the one that takes what has come since. */
  async function twoWrites(): Promise<boolean> {
    begin();
    await writing;
    await writing;
    return !isRefused;
  }

  return {
    table: store.table,
    keep(changes) {
      for (const change of changes) waiting.set(`${change.table}/${change.key}`, change);
      begin();
    },
    flushed: () => noLaterThan(clock, ANSWER_MS, twoWrites(), false),
  };
}
