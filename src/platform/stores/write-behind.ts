import { type Cancel, type Clock, noLaterThan } from "../clock.ts";
import { describeError } from "../error-text.ts";
import type { Log } from "../log.ts";
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
  /** Absent: no other member of a cluster has the tables. */
  readonly shared?: SharedTables;
}

/** Tables that the members of a cluster share: the leader writes them, and the others follow it. */
export interface SharedTables {
  /** This member leads. False: what it keeps of these tables is dropped. */
  isLeading(): boolean;
  /** Another member leads, and its values count. False with `isLeading` false: nobody does. */
  isFollowing(): boolean;
  follow(table: string, follower: TableFollower): void;
}

/** Takes the leader's values of a table, until this member leads. Values are JSON. */
export interface TableFollower {
  /** The whole content of the table. */
  all(content: ReadonlyMap<string, unknown>): void;
  /** `value` undefined: the record is gone. */
  changed(key: string, value: unknown): void;
  /** After the other calls of a turn. */
  settled(): void;
  /** This member leads: its own values count from now on. */
  lead(): void;
}

/** How often a store is written that others use too. */
export interface WritePace {
  /** From one write to the next, while there is more than fits into one, and otherwise. */
  readonly fullMs: number;
  readonly pauseMs: number;
  readonly mostChanges: number;
}

const RETRY_MS = 5_000;
/** After this time, callers get the answer that the disk has not answered. */
const ANSWER_MS = 1_000;

/** @param pace absent: all that waits is written at once */
export function createWriteBehind(
  store: TableStore,
  clock: Pick<Clock, "after">,
  log: Log,
  pace: WritePace | null = null,
): WriteBehind {
  /** The newest change of each record. */
  let waiting = new Map<string, TableChange>();
  let writing: Promise<void> | null = null;
  /** What begins the next write. */
  let later: Cancel | null = null;
  let isRefused = false;

  function begin(): void {
    if (writing !== null || waiting.size === 0) return;
    later?.();
    later = null;
    writing = write().finally(() => {
      writing = null;
      if (isRefused) return;
      if (pace === null) begin();
      else beginIn(waiting.size > 0 ? pace.fullMs : pace.pauseMs);
    });
  }

  function beginIn(delayMs: number): void {
    later = clock.after(delayMs, () => {
      later = null;
      begin();
    });
  }

  async function write(): Promise<void> {
    // The present turn ends first: its other changes belong to the same write.
    await null;
    const taken = new Map<string, TableChange>();
    for (const [key, change] of waiting) {
      if (taken.size === pace?.mostChanges) break;
      taken.set(key, change);
      waiting.delete(key);
    }
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
      beginIn(RETRY_MS);
    }
  }

  /** The write under way, and those that take what has come since. */
  async function writesUntilNow(): Promise<boolean> {
    const rest = Math.ceil(waiting.size / (pace?.mostChanges ?? Number.POSITIVE_INFINITY));
    for (let writes = 0; writes <= Math.max(1, rest); writes += 1) {
      begin();
      await writing;
    }
    return !isRefused;
  }

  return {
    table: store.table,
    keep(changes) {
      for (const change of changes) waiting.set(`${change.table}/${change.key}`, change);
      if (pace === null || later === null) begin();
    },
    flushed: () => noLaterThan(clock, ANSWER_MS, writesUntilNow(), false),
  };
}
