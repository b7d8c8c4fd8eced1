import type { Client } from "@grpc/grpc-js";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import { type Caller, createCallPlaces, type Place } from "./call-places.ts";
import { type Connect, ConnectFailed, type Connection } from "./connection.ts";

/** The connections of unary calls: their own, so that none waits behind streams (pitfalls, gRPC). */
export interface CommandChannel {
  /**
   * A place for one call, waiting for it at most `waitMs`. The last places are kept for stops, and when others have to
   * wait another connection is made. A text: why there is no place, and nothing was sent.
   */
  ready(waitMs: number, caller: Caller): Promise<Place | string>;
  /** Why there is no connection; null while there is one. */
  problem(): string | null;
  /** Connections that are open, and calls that are under way on them. */
  figures(): { readonly connections: number; readonly calls: number };
  /** Keeps one connection open until the signal is aborted, and more while they are needed. */
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

/** Beside the main one: a hundred robots that do not answer use up a connection for as long as the service waits for them. */
const MOST_FURTHER = 3;

/**
 * One connection after the other, with backoff between them; the time that an attempt took counts as waited. Beside
 * it up to three more when its places are used up, each closed when it was not used for a while.
 */
export function createCommandChannel(parts: CommandChannelParts): CommandChannel {
  const { clock, times, log } = parts;
  const backoffTimes = { baseMs: times.backoffBaseMs, capMs: times.backoffCapMs };
  const backoff = createBackoff(backoffTimes, parts.chance);
  const furtherBackoff = createBackoff(backoffTimes, parts.chance);
  let problem: string | null = "not connected yet";
  let running: AbortSignal | null = null;
  let further = 0;
  let isWidening = false;
  const places = createCallPlaces({
    clock,
    problem: () => problem ?? "none yet",
    onShort: () => {
      if (running !== null && !running.aborted) void widen(running);
    },
  });

  /** Makes another connection, as the places of those that are open are used up. One at a time, with backoff after a failure. */
  async function widen(signal: AbortSignal): Promise<void> {
    if (isWidening || further >= MOST_FURTHER || places.figures().connections === 0) return;
    isWidening = true;
    const connection = await parts.connect(signal).catch(async (error: unknown) => {
      if (!signal.aborted) log.warn({ problem: messageOf(error) }, "no further connection for commands");
      await sleep(clock, furtherBackoff.nextMs(), signal);
      return null;
    });
    isWidening = false;
    if (connection !== null) {
      furtherBackoff.reset();
      further += 1;
      log.info({ further }, "another connection for commands");
      await serve(connection, signal, true);
      further -= 1;
    }
    // Who has waited since is not heard of by anybody else.
    if (places.waiting() > 0 && !signal.aborted) void widen(signal);
  }

  /** Makes calls on a connection until it is lost; on one that `mayRest`, also until it was not used for a while. */
  async function serve(connection: Connection, signal: AbortSignal, mayRest: boolean): Promise<void> {
    const { client, streamLimit } = connection;
    if (signal.aborted) return connection.close();
    problem = null;
    const current = places.add(client, streamLimit);
    const over = new AbortController();
    // Closing it is what makes it `lost`: when the gateway stops, or when the other side is
    // silent. A command that is written to a dead connection has an unknown ending, so an
    // idle one is looked after.
    const close = () => {
      // At once, not when it is seen to be lost: nobody must take a place on it meanwhile.
      current.remove();
      connection.close();
    };
    signal.addEventListener("abort", close, { once: true });
    every(clock, times.streamSilenceMs / 2, over.signal, () => {
      // The last one stays: the main one may be lost, and not come back.
      const isSpare = mayRest && places.figures().connections > 1;
      if (!current.wasUsed() && isSpare) return close();
      // In line behind calls, the question would get no answer, and that would say nothing.
      if (current.inUse() >= streamLimit) return;
      void parts.prove(client).then((answers) => {
        if (!answers && !over.signal.aborted) close();
      });
    });
    await connection.lost;
    over.abort();
    signal.removeEventListener("abort", close);
    close();
    if (places.figures().connections === 0) problem = "the connection was lost";
  }

  return {
    ready: (waitMs, caller) => places.find(caller, waitMs),
    problem: () => problem,
    figures: places.figures,
    async run(signal) {
      running = signal;
      while (!signal.aborted) {
        let failedAtMs: number | null = null;
        try {
          const connection = await parts.connect(signal);
          const openedAtMs = clock.monotonicMs();
          await serve(connection, signal, false);
          if (clock.monotonicMs() - openedAtMs > times.backoffCapMs) backoff.reset();
        } catch (error) {
          if (error instanceof ConnectFailed) failedAtMs = error.beganAtMs;
          const message = messageOf(error);
          if (problem !== message && !signal.aborted)
            log.warn({ problem: message }, "no connection for commands");
          if (places.figures().connections === 0) problem = message;
        }
        const waitedMs = failedAtMs === null ? 0 : clock.monotonicMs() - failedAtMs;
        await sleep(clock, backoff.nextMs() - waitedMs, signal);
      }
      places.giveUp();
    },
  };
}
