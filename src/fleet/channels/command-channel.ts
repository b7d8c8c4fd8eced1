import type { Client } from "@grpc/grpc-js";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import { type Connect, ConnectFailed } from "./connection.ts";

/** The connection of unary calls: their own, so that none waits behind streams (pitfalls, gRPC). */
export interface CommandChannel {
  /**
   * The client of a connection that is READY now, waiting for one at most
   * `waitMs`. Null: there is none, and nothing was sent.
   */
  ready(waitMs: number): Promise<Client | null>;
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

/** One connection after the other, with backoff between them; the time that an attempt took counts as waited. */
export function createCommandChannel(parts: CommandChannelParts): CommandChannel {
  const { clock, times, log } = parts;
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, parts.chance);
  const waiters = new Set<(client: Client | null) => void>();
  let client: Client | null = null;
  let problem: string | null = "not connected yet";

  async function serve(signal: AbortSignal): Promise<void> {
    const connection = await parts.connect(signal);
    client = connection.client;
    problem = null;
    for (const waiter of [...waiters]) waiter(client);
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
    client = null;
    problem = "the connection was lost";
    connection.close();
    if (clock.monotonicMs() - openedAtMs > times.backoffCapMs) backoff.reset();
  }

  return {
    ready(waitMs) {
      if (client !== null) return Promise.resolve(client);
      return new Promise((resolve) => {
        const settle = (found: Client | null) => {
          waiters.delete(settle);
          cancel();
          resolve(found);
        };
        const cancel = clock.after(waitMs, () => settle(null));
        waiters.add(settle);
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
      for (const waiter of [...waiters]) waiter(null);
    },
  };
}
