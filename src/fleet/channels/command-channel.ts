import { CUT_WITHIN_MS } from "../../contracts/fleet-port.ts";
import { createBackoff } from "../../platform/backoff.ts";
import { every, noLaterThan, sleep } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import { type Caller, type CallPermit, createCallCapacity } from "./call-capacity.ts";
import { ConnectFailed, type Connection, type PoolParts } from "./connection.ts";

/**
 * The connections of unary calls: apart from those of streams, behind which gRPC would queue a call unseen.
 */
export interface CommandChannel {
  /**
   * A permit for one call, after waiting for it at most `waitMs`. The last ones are reserved for stops; if
   * other calls have to wait, another connection is made. A text: why there is none, and nothing was sent.
   */
  acquire(caller: Caller, waitMs: number): Promise<CallPermit | string>;
  /** Why there is no connection; null while there is one. */
  problem(): string | null;
  /** Open connections, and the calls under way on them. */
  figures(): { readonly connections: number; readonly calls: number };
  /** Keeps one connection open until the signal is aborted, and more while they are needed. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Beside the main one: a hundred robots that do not answer fill a connection for as long as the service waits
 * for them.
 */
const MOST_FURTHER = 3;

/**
 * One connection after the other, with backoff between them; the duration of an attempt counts as waited.
 * Beside it up to three further ones when it is full, each closed after it was not used for a while.
 */
export function createCommandChannel(parts: PoolParts): CommandChannel {
  const { clock, times, log } = parts;
  const backoffTimes = { baseMs: times.backoffBaseMs, capMs: times.backoffCapMs };
  const backoff = createBackoff(backoffTimes, parts.random);
  const furtherBackoff = createBackoff(backoffTimes, parts.random);
  let problem: string | null = "not connected yet";
  let running: AbortSignal = AbortSignal.abort();
  let further = 0;
  let isWidening = false;
  const whyNone = () => problem ?? "none yet";
  const capacity = createCallCapacity({ clock, problem: whyNone, onShort: () => void widen(running) });

  /** Makes another connection when the open ones are full. One at a time, with backoff after a failure. */
  async function widen(signal: AbortSignal): Promise<void> {
    const isReady = !signal.aborted && !isWidening && capacity.figures().connections > 0;
    if (!isReady || further >= MOST_FURTHER) return;
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
    // No other event reports a call that has waited since.
    if (capacity.waiting() > 0) void widen(signal);
  }

  /**
   * Makes calls on a connection until it is lost; on a further one, also until it was not used for a while.
   */
  async function serve(connection: Connection, signal: AbortSignal, isFurther: boolean): Promise<void> {
    const { client, streamLimit } = connection;
    if (signal.aborted) return connection.close();
    problem = null;
    const current = capacity.add({ client, streamLimit, onLate: (call) => void endLate(call) });
    const over = new AbortController();
    // `lost` follows from closing it. A command that is written to a dead connection has an unknown ending,
    // so an idle connection gets pings.
    const close = () => {
      // At once, and not when `lost` resolves: no call may get a permit on it meanwhile.
      current.remove();
      connection.close();
    };
    signal.addEventListener("abort", close, { once: true });
    let proof: Promise<void> | null = null;
    const ask = async () => {
      const answered = current.ask();
      if (await parts.prove(client)) answered();
      else if (!over.signal.aborted) close();
      proof = null;
    };
    const prove = () => {
      proof ??= ask();
      return proof;
    };
    /** What is asked after a call can only be answered when the call has arrived. */
    const proveAfter = async (call: number) => {
      await prove();
      if (!current.hasAnswered(call)) await prove();
    };
    const endLate = async (call: number) => {
      await noLaterThan(clock, CUT_WITHIN_MS, proveAfter(call), null);
      if (!current.hasAnswered(call)) connection.cut();
    };
    every(clock, times.streamSilenceMs / 2, over.signal, () => {
      // The last connection stays: the main one may be lost, and not come back.
      if (!current.wasUsed() && isFurther && capacity.figures().connections > 1) return close();
      // A ping queued behind calls may time out on a healthy connection.
      if (current.inUse() < streamLimit) void prove();
    });
    await connection.lost;
    over.abort();
    signal.removeEventListener("abort", close);
    close();
    if (capacity.figures().connections === 0) problem = "the connection was lost";
  }

  function noteFailure(message: string, signal: AbortSignal): void {
    if (problem !== message && !signal.aborted) log.warn({ problem: message }, "no connection for commands");
    if (capacity.figures().connections === 0) problem = message;
  }

  return {
    acquire: capacity.acquire,
    problem: () => problem,
    figures: capacity.figures,
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
          noteFailure(messageOf(error), signal);
        }
        const waitedMs = failedAtMs === null ? 0 : clock.monotonicMs() - failedAtMs;
        await sleep(clock, backoff.nextMs() - waitedMs, signal);
      }
      capacity.giveUp();
    },
  };
}
