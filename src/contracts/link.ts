import type { StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";

/** What a northbound is given in one turn: the newest values, and the events in order. */
export interface Batch {
  readonly changes: readonly StateChange[];
  readonly events: readonly FleetEvent[];
}

/** Those for whom events are, if the server itself keeps none: an event has arrived when they have it. */
export interface EventSubscribers {
  /** Whether one is there that acknowledges events. */
  areThere(): boolean;
  /** Whether one is coming, and gets state first: events wait for it. */
  areComing(): boolean;
  /** `look` is called when that changes, until the result is called. */
  watch(look: () => void): () => void;
  /**
   * Resolves with how many of the events, from the first, have arrived. Rejects when the connection is lost.
   */
  deliver(events: readonly FleetEvent[]): Promise<number>;
  /** Shows an event that waits to those who acknowledge nothing. */
  show(event: FleetEvent): void;
}

/** An open connection of a client northbound. */
export interface Connection extends AsyncDisposable {
  /**
   * Resolves when the batch is handed over, with how many of the events, from the first, the server has
   * acknowledged. It takes the others later. One write at a time.
   */
  write(batch: Batch): Promise<number>;
  /** Resolves with the cause when the connection is gone. Never rejects. */
  readonly lost: Promise<Error>;
  /**
   * Resolves when the link would rather connect again, to a better server: the connection is closed in order
   * and the next one opened at once. Left out: it never would.
   */
  readonly movesOn?: Promise<void>;
  /** Left out: `write` hands over events, and the server keeps them. */
  readonly subscribers?: EventSubscribers;
}

/** A northbound that connects to somebody else's server. Reconnecting is the link runner's job. */
export interface Link {
  readonly name: string;
  /** Rejects when the server cannot be reached or refuses. */
  connect(signal: AbortSignal): Promise<Connection>;
}

/** A northbound that is a server itself: it shows at once what it is given, and never throws. */
export interface Sink {
  write(batch: Batch): void;
}
