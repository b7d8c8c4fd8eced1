import type { Connection, EventSubscribers, Link } from "../contracts/link.ts";
import { type BackoffOptions, createBackoff, type RandomSource } from "../platform/backoff.ts";
import { type Clock, every, sleep } from "../platform/clock.ts";
import type { Component, Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import type { Outlet } from "./fan-out.ts";
import type { Slice } from "./feed.ts";

/** What a link runner needs besides the link. */
interface LinkRunnerOptions {
  readonly outlet: Outlet;
  readonly backoff: BackoffOptions;
  /** A write that takes longer counts as a lost connection. */
  readonly writeTimeoutMs: number;
  /** How long waiting events may hold up a shutdown. */
  readonly drainMs: number;
  /**
   * It is stalled after this time without a connection. Absent: the server is not the gateway's own, and a
   * restart would not bring it back.
   */
  readonly hangAfterMs?: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

type State =
  | { readonly kind: "connecting" }
  | { readonly kind: "up" }
  | { readonly kind: "down"; readonly sinceMs: number; readonly cause: unknown };

/** Connections that last less than this do not reset the backoff: a server may accept and drop at once. */
const STEADY_MS = 10_000;

/**
 * Keeps a link connected for as long as it runs. Ready at once, because a broker that is away must not keep
 * the daemon from starting. Rejects only if the link breaks its contract.
 */
export function createLinkRunner(link: Link, options: LinkRunnerOptions): Component {
  const { outlet, clock, random } = options;
  const log = options.log.child({ northbound: link.name });
  const backoff = createBackoff(options.backoff, random);
  const counts = { connects: 0, connectFailures: 0, connectionsLost: 0, writes: 0 };
  let state: State = { kind: "connecting" };
  /** Since when there is no connection, by the monotonic clock. */
  let unconnectedSinceMs: number | null = null;

  function down(cause: unknown, message: string): void {
    // One line for the first failure; later ones are the same outage.
    if (state.kind === "down") log.debug({ err: cause }, message);
    else log.warn({ err: cause }, message);
    state = { kind: "down", sinceMs: state.kind === "down" ? state.sinceMs : clock.monotonicMs(), cause };
  }

  async function connect(signal: AbortSignal): Promise<Connection | null> {
    try {
      const connection = await link.connect(signal);
      counts.connects += 1;
      return connection;
    } catch (error) {
      if (signal.aborted) return null;
      counts.connectFailures += 1;
      down(error, "cannot connect");
      return null;
    }
  }

  /** @returns whether the next connection may be opened at once */
  async function serve(connection: Connection, signal: AbortSignal): Promise<boolean> {
    state = { kind: "up" };
    unconnectedSinceMs = null;
    log.info({ connects: counts.connects }, "connected");
    const startedMs = clock.monotonicMs();
    const cause = await serveConnection(connection, signal, {
      ...options,
      onWritten: () => {
        counts.writes += 1;
      },
    });
    if (clock.monotonicMs() - startedMs >= STEADY_MS) backoff.reset();
    unconnectedSinceMs = clock.monotonicMs();
    if (cause !== null) {
      counts.connectionsLost += 1;
      down(cause, "connection lost");
    }
    try {
      await connection[Symbol.asyncDispose]();
    } catch (error) {
      log.warn({ err: error }, "the connection did not close cleanly");
    }
    return cause === null;
  }

  return {
    name: link.name,
    async run(signal, ready) {
      ready();
      unconnectedSinceMs = clock.monotonicMs();
      while (!signal.aborted) {
        const connection = await connect(signal);
        const movesOn = connection !== null && (await serve(connection, signal));
        if (!signal.aborted && !movesOn) await sleep(clock, backoff.nextMs(), signal);
      }
      unconnectedSinceMs = null;
      log.info({ eventsLeft: outlet.eventsQueued() }, "closed");
    },
    hang() {
      const { hangAfterMs } = options;
      if (hangAfterMs === undefined || unconnectedSinceMs === null) return null;
      const elapsedMs = clock.monotonicMs() - unconnectedSinceMs;
      if (elapsedMs <= hangAfterMs) return null;
      return `not connected to the gateway's own broker for ${Math.round(elapsedMs / 1_000)} s`;
    },
    health: () => ({
      // A link that waits is well, and says itself why.
      ...((link.whyNot?.() ?? null) === null ? describe(state, clock.monotonicMs()) : { state: "up" }),
      figures: { ...counts, ...outlet.figures() },
    }),
  };
}

function describe(state: State, nowMs: number): Pick<Health, "state" | "detail"> {
  switch (state.kind) {
    case "connecting":
      return { state: "starting", detail: "connecting for the first time" };
    case "up":
      return { state: "up" };
    case "down": {
      const seconds = Math.round((nowMs - state.sinceMs) / 1000);
      const reason = state.cause instanceof Error ? state.cause.message : String(state.cause);
      return { state: "down", detail: `not connected for ${seconds} s: ${reason}` };
    }
  }
}

/** Before events are written again that the server did not take. */
const PAUSE = { baseMs: 1_000, capMs: 30_000 };

interface ConnectionServiceOptions {
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
function serveConnection(
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
