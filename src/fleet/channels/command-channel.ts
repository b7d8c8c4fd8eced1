import type { Client } from "@grpc/grpc-js";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import { type Connect, ConnectFailed, type Connection } from "./connection.ts";

/** A call's place on a connection that is READY. */
export interface Place {
  readonly client: Client;
  /** The call is over. Once. */
  free(): void;
}

/** The connections of unary calls: their own, so that none waits behind streams (pitfalls, gRPC). */
export interface CommandChannel {
  /**
   * A place for one call, waiting for it at most `waitMs`. The server takes so many on a connection and no more: what
   * is handed to the connection beyond that would wait in it, out of reach, and leave when nobody wants it any
   * more. The last places are kept for stops, and when others have to wait another connection is made. A text: why
   * there is no place, and nothing was sent.
   */
  ready(waitMs: number, isStop: boolean): Promise<Place | string>;
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

/** Of the calls that the server takes on a connection: so many are left to stops, one in ten at most. */
const KEPT_FOR_STOPS = 20;
/** A hundred robots that do not answer use up a connection for as long as the service waits for them. */
const MOST_CONNECTIONS = 4;

interface OpenConnection {
  readonly client: Client;
  readonly limit: number;
  inUse: number;
  /** Whether it had a call since it was last looked at. */
  wasUsed: boolean;
}

interface Waiter {
  readonly isStop: boolean;
  readonly settle: (found: Place | string) => void;
}

/**
 * One connection after the other, with backoff between them; the time that an attempt took counts as waited. Beside
 * it up to three more when its places are used up, each closed when it was not used for a while.
 */
export function createCommandChannel(parts: CommandChannelParts): CommandChannel {
  const { clock, times, log } = parts;
  const backoffTimes = { baseMs: times.backoffBaseMs, capMs: times.backoffCapMs };
  const backoff = createBackoff(backoffTimes, parts.chance);
  const widening = createBackoff(backoffTimes, parts.chance);
  const waiters = new Set<Waiter>();
  const open = new Set<OpenConnection>();
  let isWidening = false;
  let problem: string | null = "not connected yet";
  let running: AbortSignal | null = null;

  function take(isStop: boolean): Place | null {
    for (const connection of open) {
      const kept = isStop ? 0 : Math.min(KEPT_FOR_STOPS, Math.floor(connection.limit / 10));
      if (connection.inUse >= connection.limit - kept) continue;
      connection.inUse += 1;
      connection.wasUsed = true;
      const free = () => {
        connection.inUse -= 1;
        admit();
      };
      return { client: connection.client, free };
    }
    return null;
  }

  function whyNone(): string {
    if (open.size === 0) return `no connection to the service: ${problem ?? "none yet"}`;
    const underWay = sumOf(({ inUse }) => inUse);
    return `${underWay} calls are under way, and the service takes ${sumOf(({ limit }) => limit)} at once`;
  }

  function sumOf(figure: (connection: OpenConnection) => number): number {
    return [...open].reduce((total, connection) => total + figure(connection), 0);
  }

  /** Another connection, as the places of those that are open are used up. One at a time, with backoff after a failure. */
  async function widen(signal: AbortSignal): Promise<void> {
    if (isWidening || open.size === 0 || open.size >= MOST_CONNECTIONS) return;
    isWidening = true;
    const connection = await parts.connect(signal).catch(async (error: unknown) => {
      if (!signal.aborted) log.warn({ problem: messageOf(error) }, "no further connection for commands");
      await sleep(clock, widening.nextMs(), signal);
      return null;
    });
    isWidening = false;
    if (connection === null) return;
    widening.reset();
    log.info({ connections: open.size + 1 }, "another connection for commands");
    await serve(connection, signal, true);
  }

  /** Stops first, then who waits longest. Those who go on waiting want another connection. */
  function admit(): void {
    for (const isStop of [true, false]) {
      for (const waiter of waiters) {
        if (waiter.isStop !== isStop) continue;
        const place = take(isStop);
        if (place === null) break;
        waiter.settle(place);
      }
    }
    if (waiters.size > 0 && running !== null) void widen(running);
  }

  /** Makes calls on a connection until it is lost; one that `mayRest` also until it was not used for a while. */
  async function serve(connection: Connection, signal: AbortSignal, mayRest: boolean): Promise<void> {
    const { client } = connection;
    const current: OpenConnection = { client, limit: connection.streamLimit, inUse: 0, wasUsed: true };
    open.add(current);
    problem = null;
    const over = new AbortController();
    // Closing it is what makes it `lost`: when the gateway stops, or when the other side is
    // silent. A command that is written to a dead connection has an unknown ending, so an
    // idle one is looked after.
    const close = () => {
      // At once, not when it is seen to be lost: nobody must take a place on it meanwhile.
      open.delete(current);
      connection.close();
    };
    if (signal.aborted) close();
    signal.addEventListener("abort", close, { once: true });
    every(clock, times.streamSilenceMs / 2, over.signal, () => {
      if (mayRest && current.inUse === 0 && !current.wasUsed) return close();
      current.wasUsed = false;
      // With all places taken the question would wait in line, and its silence would say nothing.
      if (current.inUse >= current.limit) return;
      void parts.prove(client).then((answers) => {
        if (!answers && !over.signal.aborted) close();
      });
    });
    admit();
    await connection.lost;
    over.abort();
    signal.removeEventListener("abort", close);
    close();
    if (open.size === 0) problem = "the connection was lost";
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
        admit();
      });
    },
    problem: () => problem,
    figures: () => ({ connections: open.size, calls: sumOf(({ inUse }) => inUse) }),
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
          if (open.size === 0) problem = message;
        }
        const waitedMs = failedAtMs === null ? 0 : clock.monotonicMs() - failedAtMs;
        await sleep(clock, backoff.nextMs() - waitedMs, signal);
      }
      for (const waiter of [...waiters]) waiter.settle(whyNone());
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
