import type { FleetEvent } from "../../domain/event.ts";
import type { ChainLink } from "../../platform/chain.ts";
import { causeOf } from "../event-queue.ts";

/** An event in the outbox. While it waits, the store has it, and the memory only this. */
export interface Entry {
  /** Of the event: an entry that is used again has another. */
  readonly number: number;
  readonly key: string;
  readonly isOfCommand: boolean;
  /** When the event itself says that it happened. */
  readonly atMs: number;
  /** In running time. */
  readonly queuedAtMs: number;
  /** Null while only the store has it. */
  event: FleetEvent | null;
  /** Where the event is. `memory`: the disk has not taken it. */
  place: "queued" | "writing" | "stored" | "memory";
  /** Its place among those that may be handed over; null before, and after. */
  link: ChainLink<Entry> | null;
  /** Which of them it is among. */
  isHistory: boolean;
  /** It was handed over, and nobody has said yet that it has arrived. */
  isUnderWay: boolean;
  /** A bound has dropped it, or it has arrived. */
  hasLeft: boolean;
}

type OpenEntry = { -readonly [Field in keyof Entry]: Entry[Field] };

/** More than leave between two turns of the writer. */
const MOST_SPARE = 10_000;

/**
 * Entries, each used again for another event. An entry that waits for seconds would die old, which only a
 * full collection finds.
 */
export class Entries {
  readonly #spare: OpenEntry[] = [];

  take(event: FleetEvent, number: number, queuedAtMs: number): Entry {
    const entry = this.#spare.pop();
    if (entry === undefined) return entryOf(event, number, queuedAtMs);
    entry.number = number;
    entry.key = causeOf(event);
    entry.isOfCommand = event.kind === "command";
    entry.atMs = event.atMs;
    entry.queuedAtMs = queuedAtMs;
    entry.event = event;
    entry.place = "queued";
    entry.isHistory = false;
    entry.hasLeft = false;
    return entry;
  }

  /** It has left. The writer may still hold one that is not stored: that is not used again. */
  giveBack(entry: Entry): void {
    if (entry.place === "stored" && this.#spare.length < MOST_SPARE) this.#spare.push(entry);
  }
}

function entryOf(event: FleetEvent, number: number, queuedAtMs: number): OpenEntry {
  return {
    number,
    key: causeOf(event),
    isOfCommand: event.kind === "command",
    atMs: event.atMs,
    queuedAtMs,
    event,
    place: "queued",
    link: null,
    isHistory: false,
    isUnderWay: false,
    hasLeft: false,
  };
}
