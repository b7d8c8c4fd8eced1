import type { Client } from "@grpc/grpc-js";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import { type Connect, ConnectFailed } from "./connection.ts";

/** A call's place on a connection that is READY. */
export interface Place {
  readonly client: Client;
  /** The call is over. Once. */
  free(): void;
}

/** The connection of unary calls: their own, so that none waits behind streams (pitfalls, gRPC). */
export interface CommandChannel {
  /**
   * A place for one call, waiting for it at most `waitMs`. The server takes so many at once and no more: what
   * is handed to the connection beyond that would wait in it, out of reach, and leave when nobody wants it any
   * more. The last places are kept for stops. A text: why there is none, and nothing was sent.
   */
  ready(waitMs: number, isStop: boolean): Promise<Place | string>;
  /** Why there is no connection; null while there is one. */
  problem(): string | null;
  /** Keeps one connection open until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CommandChannelParts {
  readonly connect: Connect;
  /** Whether the server gives any answer on this connection. */
  readonly prove: (client: Client) => Promise<boolean>;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
}

/** Of the calls that the server takes at once: so many are left to stops, one in ten at most. */
const KEPT_FOR_STOPS = 20;

interface Waiter {
  readonly isStop: boolean;
  readonly settle: (found: Place | string) => void;
}

/** One connection after the other, with backoff between them; the time that an attempt took counts as waited. */
export function createCommandChannel(parts: CommandChannelParts): CommandChannel {
  const { clock, times, log } = parts;
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, parts.chance);
  const waiters = new Set<Waiter>();
  let current: { readonly client: Client; readonly limit: number; inUse: number } | null = null;
  let problem: string | null = "not connected yet";

  function take(isStop: boolean): Place | null {
    const connection = current;
    if (connection === null) return null;
    const kept = isStop ? 0 : Math.min(KEPT_FOR_STOPS, Math.floor(connection.limit / 10));
    if (connection.inUse >= connection.limit - kept) return null;
    connection.inUse += 1;
    const free = () => {
      connection.inUse -= 1;
      admit();
    };
    return { client: connection.client, free };
  }

  function whyNone(): string {
    if (problem !== null || current === null) return `no connection to the service: ${problem ?? "none yet"}`;
    return `${current.inUse} calls are under way, and the service takes ${current.limit} at once`;
  }

  /** Stops first, then who waits longest. */
  function admit(): void {
    if (waiters.size === 0) return;
    for (const isStop of [true, false]) {
      for (const waiter of waiters) {
        if (waiter.isStop !== isStop) continue;
        const place = take(isStop);
        if (place === null) break;
        waiter.settle(place);
      }
    }
  }

  async function serve(signal: AbortSignal): Promise<void> {
    const connection = await parts.connect(signal);
    current = { client: connection.client, limit: connection.streamLimit, inUse: 0 };
    problem = null;
    admit();
    const openedAtMs = clock.monotonicMs();
    const over = new AbortController();
    // Closing it is what makes it `lost`: when the gateway stops, or when the other side is
    // silent. A command that is written to a dead connection has an unknown ending, so an
    // idle one is looked after.
    const close = () => connection.close();
    if (signal.aborted) close();
    signal.addEventListener("abort", close, { once: true });
    every(clock, times.streamSilenceMs / 2, over.signal, () => {
      void parts.prove(connection.client).then((answers) => {
        if (!answers && !over.signal.aborted) close();
      });
    });
    await connection.lost;
    over.abort();
    signal.removeEventListener("abort", close);
    current = null;
    problem = "the connection was lost";
    connection.close();
    if (clock.monotonicMs() - openedAtMs > times.backoffCapMs) backoff.reset();
  }

  return {
    ready(waitMs, isStop) {
      const place = take(isStop);
      if (place !== null) return Promise.resolve(place);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          isStop,
          settle(found) {
            waiters.delete(waiter);
            cancel();
            resolve(found);
          },
        };
        const cancel = clock.after(waitMs, () => waiter.settle(whyNone()));
        waiters.add(waiter);
      });
    },
    problem: () => problem,
    async run(signal) {
      while (!signal.aborted) {
        let failedAtMs: number | null = null;
        try {
          await serve(signal);
        } catch (error) {
          if (error instanceof ConnectFailed) failedAtMs = error.beganAtMs;
          const message = error instanceof Error ? error.message : String(error);
          if (problem !== message && !signal.aborted)
            log.warn({ problem: message }, "no connection for commands");
          problem = message;
        }
        const waitedMs = failedAtMs === null ? 0 : clock.monotonicMs() - failedAtMs;
        await sleep(clock, backoff.nextMs() - waitedMs, signal);
      }
      for (const waiter of [...waiters]) waiter.settle(whyNone());
    },
  };
}
