import { hash } from "node:crypto";
import type { DropReason, FleetEvent } from "../../domain/event.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const outboxFormat: StoreFormat = { store: "outbox", version: 2 };

/** The same records, of events for Sparkplug. */
export const sparkplugOutboxFormat: StoreFormat = { ...outboxFormat, store: "sparkplug-outbox" };

/** An event in the store: the running time when it was queued, the run that saw it, and the event. */
export type StoredEvent = readonly [queuedAtMs: number, sessionId: string, event: FleetEvent];

/** A count of dropped events of one robot or source, until it is published. */
export interface StoredDrop {
  readonly eventId: string;
  readonly cause: string;
  readonly isOfCommands: boolean;
  readonly reason: DropReason;
  readonly count: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly atMs: number;
  readonly sessionId: string;
}

/** How the last run ended. */
interface StoredRun {
  /** The store has every event that it was given. */
  readonly isClosed: boolean;
  /**
   * The running time up to which the store had all events of commands: when the last one was queued, plus the
   * quiet time since. Before the first event, when the store was made.
   */
  readonly commandsUntilMs: number;
}

const RUN_KEY = "run";
/** Present if events were taken from this store once. */
export const AWAITED_KEY = "awaited";
/** The number of the last file of the log that the store has taken over. */
export const LOGGED_KEY = "logged";

/** The ranges of the three kinds of records, each up to the character behind its slash. */
export const EVENTS = { from: "e/", to: "e0" };
export const DROPS = { from: "d/", to: "d0" };
export const TOLD = { from: "t/", to: "t0" };

const NUMBER_DIGITS = 15;

/** With toFixed: V8 keeps the last 16,000 texts that String makes of numbers, so each would die old. */
export function eventKey(number: number): string {
  return `${EVENTS.from}${number.toFixed().padStart(NUMBER_DIGITS, "0")}`;
}

export function numberOf(key: string): number {
  return Number(key.slice(EVENTS.from.length));
}

/** With the digits of its parts' lengths, shorter than the longest key of the store. */
const LONGEST_NAME = 500;

/** Names of the service can be longer than a key of the store: then a hash replaces them. */
export function publishedKey(kind: "mission" | "conveyor", robotId: string, name: string): string {
  const isShort = robotId.length + name.length <= LONGEST_NAME;
  // The length shows where the first name ends, whatever it contains.
  if (isShort) return `${TOLD.from}${kind}/${robotId.length}/${robotId}/${name}`;
  return `${TOLD.from}${kind}/#${hash("sha256", JSON.stringify([robotId, name]), "base64url")}`;
}

export function dropKey(eventId: string): string {
  return `${DROPS.from}${eventId}`;
}

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
