import type { FleetEvent } from "../../domain/event.ts";
import type { ChainLink } from "../../platform/chain.ts";
import { causeOf } from "../event-queue.ts";

/** An event in the outbox. While it waits, the store has it, and the memory only this. */
export interface Entry {
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

export function entryOf(event: FleetEvent, number: number, queuedAtMs: number): Entry {
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
