import type { Clock } from "../../platform/clock.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { RUN_KEY, type StoredRun } from "./records.ts";

/** Until when the store has the events of all commands, over the runs. */
export interface RunRecord {
  /** The record that changes with the event of a command. */
  note(atMs: number): StoreChange;
  /** The record, if so much time has passed without the event of a command that it changes; else null. */
  noteQuiet(): StoreChange | null;
  /** The record of this run as it ends, or as it goes on. */
  change(isClosed: boolean): StoreChange;
  /**
   * Since when, by the wall clock, a crash of the run before may have lost events of commands; null when it
   * has lost none. To be asked when all that it left was noted.
   */
  lostSinceMs(): number | null;
}

/** Commands that end at the same time are told of in any order, some of them as late as this. */
const COMMANDS_APART_MS = 2_000;

/** Reads what the run before has left. @throws RecordDamaged */
export function openRunRecord(store: Store, clock: Clock): RunRecord {
  const before = store.get(RUN_KEY) as StoredRun | undefined;
  let commandsUntilMs = before?.commandsUntilMs ?? clock.nowMs();
  /** Since when no event of a command has come to the disk; null: that is in `commandsUntilMs`. */
  let quietSinceMs: number | null = null;

  function change(isClosed: boolean): StoreChange {
    const value: StoredRun = { isClosed, commandsUntilMs };
    return { key: RUN_KEY, value };
  }

  return {
    change,
    note(atMs) {
      commandsUntilMs = Math.max(commandsUntilMs, atMs);
      quietSinceMs = clock.monotonicMs();
      return change(false);
    },
    noteQuiet() {
      if (quietSinceMs === null) return null;
      const quietMs = clock.monotonicMs() - quietSinceMs;
      if (quietMs <= COMMANDS_APART_MS) return null;
      // A clock that was set back, or ahead and back, moves it no further than the time that has passed.
      commandsUntilMs = Math.max(commandsUntilMs, Math.min(commandsUntilMs + quietMs, clock.nowMs()));
      quietSinceMs = null;
      return change(false);
    },
    lostSinceMs: () => (before?.isClosed === false ? commandsUntilMs - COMMANDS_APART_MS : null),
  };
}
