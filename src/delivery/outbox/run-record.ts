import type { RunningTime } from "../../platform/running-time.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { RUN_KEY, type StoredRun } from "./records.ts";

/** Keeps over the runs until when the store has the events of all commands. */
export interface RunRecord {
  /** The record that changes with an event of a command, which was queued then. */
  note(queuedAtMs: number): StoreChange;
  /** The record, if so much time has passed without an event of a command that it changes; otherwise null. */
  noteQuiet(): StoreChange | null;
  /** The record of this run as it ends, or as it goes on. */
  change(isClosed: boolean): StoreChange;
  /**
   * Since when (in running time) a crash of the last run may have lost events of commands; null: it has lost
   * none. Call it when all that the last run left was noted.
   */
  lostSinceMs(): number | null;
}

/** From the end of a command to its event: the disk of the journal may delay it by this much. */
const COMMANDS_APART_MS = 5_000;

/**
 * Reads the record of the last run.
 *
 * @throws RecordDamaged
 */
export function openRunRecord(store: Store, time: RunningTime): RunRecord {
  const before = store.get(RUN_KEY) as StoredRun | undefined;
  if (before !== undefined) time.atLeast(before.commandsUntilMs);
  let commandsUntilMs = before?.commandsUntilMs ?? time.totalMs();
  /** Since when no event of a command has come to the disk; null: `commandsUntilMs` has it. */
  let quietSinceMs: number | null = null;

  function change(isClosed: boolean): StoreChange {
    const value: StoredRun = { isClosed, commandsUntilMs };
    return { key: RUN_KEY, value };
  }

  return {
    change,
    note(queuedAtMs) {
      commandsUntilMs = Math.max(commandsUntilMs, queuedAtMs);
      quietSinceMs = time.totalMs();
      return change(false);
    },
    noteQuiet() {
      if (quietSinceMs === null) return null;
      const nowMs = time.totalMs();
      if (nowMs - quietSinceMs <= COMMANDS_APART_MS) return null;
      commandsUntilMs = nowMs;
      quietSinceMs = null;
      return change(false);
    },
    lostSinceMs: () => (before?.isClosed === false ? commandsUntilMs - COMMANDS_APART_MS : null),
  };
}
