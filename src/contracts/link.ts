import type { StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";

/** What delivery gives to a northbound in one turn: the newest values, and the events in order. */
export interface Batch {
  readonly changes: readonly StateChange[];
  readonly events: readonly FleetEvent[];
  /** A part of the snapshot follows: not all values are here yet. Absent: they are. */
  readonly isInSnapshot?: true;
}

/** The subscribers to events of a server that stores none: an event has arrived when they have it. */
export interface EventSubscribers {
  /** Whether a subscriber that acknowledges events is connected. */
  areThere(): boolean;
  /** Whether a subscriber is connecting, and gets its state first: events wait for it. */
  areComing(): boolean;
  /** `look` is called when that changes, until the returned function is called. */
  watch(look: () => void): () => void;
  /**
   * Resolves with how many of the events, from the first on, have arrived. Rejects when the connection is
   * lost.
   */
  deliver(events: readonly FleetEvent[]): Promise<number>;
  /** Publishes a waiting event to subscribers that acknowledge nothing. */
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
   * Resolves when the link prefers a better server: this connection is then closed in order, and the next one
   * opened at once. Absent: never.
   */
  readonly movesOn?: Promise<void>;
  /** Absent: `write` hands events to the server, which stores them. */
  readonly subscribers?: EventSubscribers;
}

/** A northbound that connects to somebody else's server. Reconnecting is the link runner's job. */
export interface Link {
  readonly name: string;
  /** Why `connect` waits, on purpose; null or absent: it does not. */
  whyNot?(): string | null;
  /** Rejects when the server cannot be reached or refuses. */
  connect(signal: AbortSignal): Promise<Connection>;
}

/** A northbound that is a server itself: it publishes a batch at once, and never throws. */
export interface Sink {
  write(batch: Batch): void;
}
