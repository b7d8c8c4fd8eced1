import type { Connection, EventSubscribers } from "../contracts/link.ts";
import { createBackoff } from "../platform/backoff.ts";
import { type Clock, every, sleep } from "../platform/clock.ts";
import type { Outlet } from "./fan-out.ts";
import type { Slice } from "./feed.ts";

/** Before events are written again that the server did not take. */
const PAUSE = { baseMs: 1_000, capMs: 30_000 };

export interface ConnectionServiceOptions {
  readonly outlet: Outlet;
  readonly clock: Clock;
  readonly writeTimeoutMs: number;
  readonly drainMs: number;
  /** Called after each batch that the connection took. */
  readonly onWritten: () => void;
}

/**
 * Writes the batches of the outlet, one at a time, until the connection is closed or moves on, or the signal
 * is aborted; then the remaining events, within `drainMs`.
 *
 * @returns why the connection cannot be used any more; null: it was served to the end
 */
export function serveConnection(
  connection: Connection,
  signal: AbortSignal,
  options: ConnectionServiceOptions,
): Promise<Error | null> {
  const { outlet, clock, drainMs } = options;
  const { subscribers } = connection;
  const isDrained = () => outlet.eventsQueued() === 0 || subscribers?.areThere() === false;
  return new Promise((resolve) => {
    const over = new AbortController();
    let unwatch = () => {};
    const end = (cause: Error | null) => {
      if (over.signal.aborted) return;
      over.abort();
      unwatch();
      signal.removeEventListener("abort", onStop);
      outlet.close();
      resolve(cause);
    };
    const onStop = () => {
      if (isDrained()) return end(null);
      over.signal.addEventListener(
        "abort",
        clock.after(drainMs, () => end(null)),
      );
    };

    outlet.open(subscribers === undefined);
    if (subscribers !== undefined) {
      const look = () => {
        const show = subscribers.areComing() ? undefined : subscribers.show;
        outlet.setEventsOpen(subscribers.areThere(), show);
        if (signal.aborted && isDrained()) end(null);
      };
      unwatch = subscribers.watch(look);
      look();
    }
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    connection.lost.then(end, (error: unknown) => end(asError(error)));
    void connection.movesOn?.then(() => end(null));
    write(connection, { stop: signal, over: over.signal, isDrained, end }, options).then(
      () => end(null),
      (error: unknown) => end(asError(error)),
    );
  });
}

/** Until when a connection is written to. */
interface Term {
  readonly stop: AbortSignal;
  readonly over: AbortSignal;
  /** Whether no event is left that could be handed over. */
  readonly isDrained: () => boolean;
  readonly end: (cause: Error | null) => void;
}

/** Writes slice by slice. Resolves when there is nothing left to do, rejects if a write failed. */
async function write(
  connection: Connection,
  { stop, over, isDrained, end }: Term,
  { outlet, clock, writeTimeoutMs, onWritten }: ConnectionServiceOptions,
): Promise<void> {
  const { subscribers } = connection;
  const pause = createBackoff(PAUSE, () => 1);
  let startedMs: number | null = null;
  // One timer for all writes: a timer for each would cost more than most writes do.
  every(clock, writeTimeoutMs / 4, over, () => {
    if (startedMs === null || clock.monotonicMs() - startedMs < writeTimeoutMs) return;
    end(new Error(`a write took longer than ${writeTimeoutMs} ms`));
  });
  while (!over.aborted) {
    const slice = await outlet.next();
    if (slice === null) return;
    startedMs = clock.monotonicMs();
    const batch = subscribers === undefined ? slice : { changes: slice.changes, events: [] };
    const arrived = await connection.write(batch);
    startedMs = null;
    // Also if the connection is closed by now: what was acknowledged is not sent again.
    if (subscribers !== undefined) deliver(slice, subscribers);
    else if (arrived < slice.events.length) writeAgainLater(slice, arrived);
    else {
      outlet.release(slice);
      if (arrived > 0) pause.reset();
    }
    onWritten();
    if (stop.aborted && isDrained()) return;
  }

  /** State goes on meanwhile; events behind these wait with them. */
  function writeAgainLater(slice: Slice, arrived: number): void {
    outlet.releaseChanges(slice);
    if (arrived > 0) pause.reset();
    void sleep(clock, pause.nextMs(), over).then(() => outlet.releaseEvents(slice, arrived));
  }

  /** Not awaited: state must not wait for a subscriber. */
  function deliver(slice: Slice, to: EventSubscribers): void {
    outlet.releaseChanges(slice);
    if (slice.events.length === 0) return;
    to.deliver(slice.events).then(
      (arrived) => {
        outlet.releaseEvents(slice, arrived);
        if (stop.aborted && isDrained()) end(null);
      },
      (error: unknown) => end(asError(error)),
    );
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the connection failed", { cause: error });
}
