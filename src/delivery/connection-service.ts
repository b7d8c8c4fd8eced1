import type { Connection } from "../contracts/link.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Outlet } from "./outlet.ts";

export interface ConnectionServiceOptions {
  readonly outlet: Outlet;
  readonly clock: Clock;
  readonly writeTimeoutMs: number;
  readonly drainMs: number;
  /** Called after each batch that the connection took. */
  readonly onWritten: () => void;
}

/**
 * Writes what the outlet has, one batch at a time, until the connection is closed or moves on, or the signal
 * is aborted; then the events that are left, within `drainMs`.
 *
 * @returns why the connection cannot be used any more; null when it was served to the end
 */
export function serveConnection(
  connection: Connection,
  signal: AbortSignal,
  options: ConnectionServiceOptions,
): Promise<Error | null> {
  const { outlet, clock, drainMs } = options;
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (cause: Error | null) => {
      if (over.signal.aborted) return;
      over.abort();
      signal.removeEventListener("abort", onStop);
      outlet.close();
      resolve(cause);
    };
    const onStop = () => {
      if (outlet.eventsQueued() === 0) return end(null);
      over.signal.addEventListener(
        "abort",
        clock.after(drainMs, () => end(null)),
      );
    };

    outlet.open();
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    connection.lost.then(end, (error: unknown) => end(asError(error)));
    void connection.movesOn?.then(() => end(null));
    write(connection, signal, over.signal, options, end).then(
      () => end(null),
      (error: unknown) => end(asError(error)),
    );
  });
}

/** Writes slice by slice. Resolves when there is nothing left to do, rejects when a write failed. */
async function write(
  connection: Connection,
  stop: AbortSignal,
  over: AbortSignal,
  { outlet, clock, writeTimeoutMs, onWritten }: ConnectionServiceOptions,
  end: (cause: Error) => void,
): Promise<void> {
  let startedMs: number | null = null;
  // One timer for all writes: one for each would cost more than most writes do.
  every(clock, writeTimeoutMs / 4, over, () => {
    if (startedMs === null || clock.monotonicMs() - startedMs < writeTimeoutMs) return;
    end(new Error(`a write took longer than ${writeTimeoutMs} ms`));
  });
  while (!over.aborted) {
    const slice = await outlet.next();
    if (slice === null) return;
    startedMs = clock.monotonicMs();
    await connection.write(slice);
    startedMs = null;
    // Also if the connection is closed by now: what was acknowledged is not sent again.
    outlet.release(slice);
    onWritten();
    if (stop.aborted && outlet.eventsQueued() === 0) return;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error("the connection failed", { cause: error });
}
