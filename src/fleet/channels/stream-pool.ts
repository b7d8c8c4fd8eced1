import type { Client } from "@grpc/grpc-js";
import { silenceLookMs } from "../../domain/detection.ts";
import { type Chance, createBackoff } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { FleetTimes } from "../options.ts";
import { type Connect, ConnectFailed, type Connection } from "./connection.ts";

/** Room for one stream on a connection. */
export interface StreamSlot {
  readonly client: Client;
  /** Something came from the server on this connection. */
  proven(): void;
  /** Monotonic time of the last proof that the connection is alive. */
  provenAtMs(): number;
  /** Asks the server for a sign of life now; resolves whether one came. */
  prove(): Promise<boolean>;
  /**
   * The server left a stream and a plain call unanswered. Either it hangs; or it allows fewer streams than
   * it says; or, where it never answered anything on this connection, the connection is dead.
   */
  unanswered(): void;
  release(): void;
}

/** What the holder of a slot is told. */
export interface SlotHolder {
  /** The connection takes no new calls; the ones on it may end soon. */
  leaving(): void;
  /** The connection is dead: nothing came for too long. */
  silent(): void;
}

export interface PoolState {
  readonly connections: number;
  readonly streams: number;
  readonly waiting: number;
  /** Streams a connection that the server allows; null while not known. */
  readonly streamLimit: number | null;
  /** Attempts to connect that failed. */
  readonly failures: number;
  /** Why there is no connection; null while there is one. */
  readonly problem: string | null;
}

/** As many connections as the streams need, made when they are needed. */
export interface StreamPool {
  /** Waits for room. Resolves null when the signal is aborted first. */
  acquire(holder: SlotHolder, signal: AbortSignal): Promise<StreamSlot | null>;
  state(): PoolState;
  /** Makes and watches connections until the signal is aborted, then closes them. */
  run(signal: AbortSignal): Promise<void>;
}

export interface StreamPoolParts {
  readonly connect: Connect;
  /** Whether the server gives any answer on this connection. */
  readonly prove: (client: Client) => Promise<boolean>;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
}

interface Lane {
  readonly connection: Connection;
  readonly holders: Set<SlotHolder>;
  readonly openedAtMs: number;
  capacity: number;
  /** Whether anything ever came on it. */
  isHeard: boolean;
  provenAtMs: number;
  proving: Promise<boolean> | null;
  /** When it was last asked for a sign of life. */
  askedAtMs: number;
  /** Since when it leaves plain calls unanswered; null: it does not. */
  muteSinceMs: number | null;
  /** Whether other streams were heard while it left a plain call unanswered. */
  isCrowdSuspect: boolean;
  /** When its capacity was lowered; null: it is what the server says. */
  crowdedAtMs: number | null;
  leaving: boolean;
  isGivenUp: boolean;
}

interface Waiter {
  readonly holder: SlotHolder;
  readonly resolve: (slot: StreamSlot | null) => void;
}

/** What most HTTP/2 servers allow (pitfalls, gRPC): taken until the server has said. */
const USUAL_LIMIT = 100;
/** Beyond this, one connection's flow control and loss hurt too many streams at once. */
const MOST_STREAMS = 1_000;
/** An answer that had only waited for room comes within this time. */
const AT_ONCE_MS = 1_000;
/** How long a connection that took fewer streams than the server says is not asked for more. */
const CROWDED_MS = 10 * 60_000;
/** A connection that lived this long was no failed attempt, also if the server tells it to go then. */
export const SETTLED_MS = 1_000;
/** The first attempt after a GOAWAY is made within this time: gateways that were told together come spread. */
const HANDOVER_MS = 100;

/**
 * While there is no connection at all, one attempt is made at a time: a service that
 * comes back is not met by all our connections at once. The time that an attempt took
 * counts as waited: one that hung until its end must not delay the next one further.
 */
export function createStreamPool(parts: StreamPoolParts): StreamPool {
  const { clock, times, log } = parts;
  const lanes = new Set<Lane>();
  const waiters = new Set<Waiter>();
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, parts.chance);
  let limit: number | null = null;
  let connecting = 0;
  let problem: string | null = "not connected yet";
  let failures = 0;
  /** When the last attempt began that came to nothing, or its connection was lost; null: no wait is due. */
  let failedAtMs: number | null = null;
  /** When a connection was lost last that had hardly begun; null: none was. */
  let shortLivedAtMs: number | null = null;
  /** The last connection, where it was told to go: its streams may live on for the moment. */
  let handover: Lane | null = null;
  let running: AbortSignal = AbortSignal.abort();

  function pump(): void {
    for (const lane of lanes) {
      for (const waiter of waiters) {
        if (!isAnswering(lane) || lane.holders.size >= lane.capacity) break;
        waiters.delete(waiter);
        waiter.resolve(occupy(lane, waiter.holder));
      }
    }
    if (running.aborted || waiters.size === 0) return;
    const wanted = ![...lanes].some(isAnswering)
      ? 1
      : Math.ceil(waiters.size / capacityOf(limit ?? USUAL_LIMIT));
    for (let missing = wanted - connecting; missing > 0; missing -= 1) void addLane(running);
  }

  const isAnswering = (lane: Lane) => !lane.leaving && lane.muteSinceMs === null;
  const usableLanes = () => [...lanes].filter((lane) => !lane.leaving).length;

  function occupy(lane: Lane, holder: SlotHolder): StreamSlot {
    lane.holders.add(holder);
    return {
      client: lane.connection.client,
      proven() {
        hear(lane);
      },
      provenAtMs: () => lane.provenAtMs,
      prove: () => prove(lane),
      unanswered() {
        if (lane.isHeard) mute(lane);
        else giveUp(lane, "a connection answers nothing: it is given up");
      },
      release() {
        if (!lane.holders.delete(holder)) return;
        if (lane.muteSinceMs !== null) void prove(lane);
        closeIfIdle(lane);
        pump();
      },
    };
  }

  function hear(lane: Lane): void {
    lane.isHeard = true;
    lane.provenAtMs = clock.monotonicMs();
  }

  /** New streams go elsewhere until a plain call is answered again. */
  function mute(lane: Lane): void {
    if (!isAnswering(lane)) return;
    lane.muteSinceMs = clock.monotonicMs();
    lane.isCrowdSuspect = lane.provenAtMs > lane.askedAtMs;
    const why = lane.isCrowdSuspect
      ? "a connection takes no further stream: new ones go elsewhere"
      : "a connection does not answer: new streams go elsewhere";
    log.warn({ streams: lane.holders.size, silentMs: Math.round(lane.muteSinceMs - lane.provenAtMs) }, why);
  }

  /**
   * A server that went on with other streams, or answers as soon as one stream less waits, was not hanging:
   * it allows no more than those that are left.
   */
  function unmute(lane: Lane, sinceMs: number): void {
    const nowMs = clock.monotonicMs();
    lane.muteSinceMs = null;
    if (lane.leaving) return;
    if (lane.isCrowdSuspect || nowMs - sinceMs < AT_ONCE_MS) {
      lane.crowdedAtMs = nowMs;
      lane.capacity = Math.max(1, Math.min(lane.capacity, lane.holders.size));
      log.warn(
        { streams: lane.capacity },
        "the service answers fewer streams on a connection than it allows",
      );
    } else log.info({ muteMs: Math.round(nowMs - sinceMs) }, "a connection answers again");
    pump();
  }

  function prove(lane: Lane): Promise<boolean> {
    if (lane.proving === null) lane.askedAtMs = clock.monotonicMs();
    lane.proving ??= parts.prove(lane.connection.client).then((answered) => {
      lane.proving = null;
      if (answered) hear(lane);
      if (answered && lane.muteSinceMs !== null) unmute(lane, lane.muteSinceMs);
      return answered;
    });
    return lane.proving;
  }

  /** How long the next attempt has to wait. Other connections that live are no reason to hammer at the server. */
  function delayOfAttempt(): number {
    const nowMs = clock.monotonicMs();
    const left = handover;
    handover = null;
    // Streams that still live on it are no failure: the new connection must be there before they are cut.
    if (left !== null && left.holders.size > 0) return parts.chance() * HANDOVER_MS;
    const isShortLived = shortLivedAtMs !== null && nowMs - shortLivedAtMs < times.backoffCapMs;
    const sinceMs = failedAtMs ?? (isShortLived ? shortLivedAtMs : null);
    return sinceMs === null ? 0 : backoff.nextMs() - (nowMs - sinceMs);
  }

  async function addLane(signal: AbortSignal): Promise<void> {
    connecting += 1;
    try {
      const delayMs = delayOfAttempt();
      if (delayMs > 0) await sleep(clock, delayMs, signal);
      if (signal.aborted) return;
      const connection = await parts.connect(signal);
      openLane(connection);
    } catch (error) {
      const message = messageOf(error);
      failures += 1;
      failedAtMs = error instanceof ConnectFailed ? error.beganAtMs : clock.monotonicMs();
      if (problem !== message && !signal.aborted)
        log.warn({ problem: message }, "no connection to the service");
      problem = message;
    } finally {
      connecting -= 1;
      pump();
    }
  }

  function openLane(connection: Connection): void {
    const nowMs = clock.monotonicMs();
    limit = connection.streamLimit;
    const lane: Lane = {
      connection,
      holders: new Set(),
      openedAtMs: nowMs,
      capacity: capacityOf(limit),
      isHeard: false,
      provenAtMs: nowMs,
      proving: null,
      askedAtMs: nowMs,
      muteSinceMs: null,
      isCrowdSuspect: false,
      crowdedAtMs: null,
      leaving: false,
      isGivenUp: false,
    };
    if (lanes.size === 0) log.info({ streamLimit: limit }, "connected to the service");
    failedAtMs = null;
    problem = null;
    lanes.add(lane);
    void connection.lost.then(() => leave(lane));
    pump();
    // Whoever it was made for may have found room meanwhile.
    closeIfIdle(lane);
  }

  /** No new calls on it; the ones there end by themselves, or move when they can. */
  function leave(lane: Lane): void {
    if (lane.leaving) return;
    lane.leaving = true;
    // A connection that lived was no failure: the next attempt need not wait long.
    const nowMs = clock.monotonicMs();
    const livedMs = nowMs - lane.openedAtMs;
    if (livedMs > times.backoffCapMs) backoff.reset();
    if (livedMs < SETTLED_MS) shortLivedAtMs = nowMs;
    if (usableLanes() === 0) {
      limit = null;
      failedAtMs = nowMs;
      if (livedMs >= SETTLED_MS && !lane.isGivenUp) handover = lane;
      problem ??= "the connection was lost";
      if (!running.aborted) log.warn({}, "the connection to the service was lost");
    }
    for (const holder of [...lane.holders]) holder.leaving();
    closeIfIdle(lane);
    pump();
  }

  function closeIfIdle(lane: Lane): void {
    if (lane.holders.size > 0) return;
    if (!lane.leaving && ![...lanes].some((other) => other !== lane && isAnswering(other))) return;
    lane.leaving = true;
    lanes.delete(lane);
    lane.connection.close();
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    for (const lane of [...lanes]) {
      const silentMs = nowMs - lane.provenAtMs;
      if (silentMs > times.streamSilenceMs) giveUp(lane, "a connection is silent: it is given up");
      // A call on one that is leaving would go by another connection, and prove that one.
      else if (!lane.leaving && (!isAnswering(lane) || silentMs > times.streamSilenceMs / 2))
        void prove(lane);
      // It may have been a hang after all: then the connection that was made for the others can go.
      if (lane.crowdedAtMs !== null && nowMs - lane.crowdedAtMs > CROWDED_MS) {
        lane.crowdedAtMs = null;
        lane.capacity = capacityOf(lane.connection.streamLimit);
      }
    }
  }

  function giveUp(lane: Lane, why: string): void {
    if (lane.isGivenUp || (lane.leaving && lane.holders.size === 0)) return;
    lane.isGivenUp = true;
    log.warn({ silentMs: Math.round(clock.monotonicMs() - lane.provenAtMs) }, why);
    for (const holder of [...lane.holders]) holder.silent();
    leave(lane);
  }

  return {
    acquire(holder, signal) {
      if (signal.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const waiter: Waiter = {
          holder,
          resolve(slot) {
            letGo();
            resolve(slot);
          },
        };
        const letGo = onAbort(signal, () => {
          waiters.delete(waiter);
          resolve(null);
        });
        waiters.add(waiter);
        pump();
      });
    },
    state: () => ({
      connections: usableLanes(),
      streams: [...lanes].reduce((sum, lane) => sum + lane.holders.size, 0),
      waiting: waiters.size,
      streamLimit: limit,
      failures,
      problem: usableLanes() === 0 ? problem : null,
    }),
    async run(signal) {
      running = signal;
      every(clock, silenceLookMs(times.streamSilenceMs), signal, look);
      pump();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      for (const lane of lanes) lane.connection.close();
      lanes.clear();
    },
  };
}

/** One stream's room is kept for the calls that ask for a sign of life. */
function capacityOf(limit: number): number {
  return Math.max(1, Math.min(limit - 1, MOST_STREAMS));
}
