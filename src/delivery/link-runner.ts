import type { Connection, Link } from "../contracts/link.ts";
import { type BackoffOptions, createBackoff, type RandomSource } from "../platform/backoff.ts";
import { type Clock, sleep } from "../platform/clock.ts";
import type { Component, Health } from "../platform/component.ts";
import type { Log } from "../platform/log.ts";
import { serveConnection } from "./connection-service.ts";
import type { Outlet } from "./fan-out.ts";

/** What a link runner needs besides the link. */
export interface LinkRunnerOptions {
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
