import { silenceLookMs } from "../../domain/detection.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, every, sleep } from "../../platform/clock.ts";
import { aborted } from "../../platform/component.ts";
import { messageOf } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { FleetTimes } from "../options.ts";
import { ConnectFailed, type Connection, type PoolParts } from "./connection.ts";
import {
  capacityOf,
  createPooledConnection,
  type PermitHolder,
  type PooledConnection,
  SETTLED_MS,
  type StreamPermit,
} from "./pooled-connection.ts";

export interface PoolState {
  readonly connections: number;
  readonly streams: number;
  readonly waiting: number;
  /** How many streams the server allows on a connection; null: not known. */
  readonly streamLimit: number | null;
  /** Attempts to connect that failed. */
  readonly failures: number;
  /** Why there is no connection; null while there is one. */
  readonly problem: string | null;
}

/** A pool of connections for streams. It makes connections as the streams need them. */
export interface StreamPool {
  /** Waits for room. Resolves with null if the signal is aborted first. */
  acquire(holder: PermitHolder, signal: AbortSignal): Promise<StreamPermit | null>;
  state(): PoolState;
  /** Makes and watches connections until the signal is aborted, then closes them. */
  run(signal: AbortSignal): Promise<void>;
}

interface Waiter {
  readonly holder: PermitHolder;
  readonly resolve: (permit: StreamPermit | null) => void;
}

/**
 * What most HTTP/2 servers allow (docs/internals/service.md, How deployed services behave), until the server
 * says it.
 */
const USUAL_LIMIT = 100;

export function createStreamPool(parts: PoolParts): StreamPool {
  const { prove, times, clock, random, log } = parts;
  const connections = new Set<PooledConnection>();
  const waiters = new Set<Waiter>();
  const pace = createConnectPace(times, clock, random);
  const failures = createFailures(log);
  let limit: number | null = null;
  let connecting = 0;
  let running: AbortSignal = AbortSignal.abort();

  /** Gives room to waiting streams, and makes connections for the others. */
  function admit(): void {
    for (const connection of connections) {
      for (const waiter of waiters) {
        if (!connection.hasRoom()) break;
        waiters.delete(waiter);
        waiter.resolve(connection.occupy(waiter.holder));
      }
    }
    if (running.aborted || waiters.size === 0) return;
    const wanted = wantedConnections(connections, waiters.size, limit);
    for (let missing = wanted - connecting; missing > 0; missing -= 1) void connect(running);
  }

  async function connect(signal: AbortSignal): Promise<void> {
    connecting += 1;
    try {
      const delayMs = pace.delayMs();
      if (delayMs > 0) await sleep(clock, delayMs, signal);
      if (!signal.aborted) opened(await parts.connect(signal));
    } catch (error) {
      failures.note(error, signal);
      pace.failed(error instanceof ConnectFailed ? error.beganAtMs : clock.monotonicMs());
    } finally {
      connecting -= 1;
      admit();
    }
  }

  function opened(connection: Connection): void {
    limit = connection.streamLimit;
    const pooled: PooledConnection = createPooledConnection(connection, {
      times,
      clock,
      log,
      prove,
      onRoom: admit,
      onReleased() {
        closeIfIdle(pooled);
        admit();
      },
      onLeft: () => left(pooled),
    });
    if (connections.size === 0) log.info({ streamLimit: limit }, "connected to the service");
    pace.opened();
    failures.over();
    connections.add(pooled);
    void connection.lost.then(pooled.leave);
    admit();
    // Its waiters may have found room elsewhere meanwhile.
    closeIfIdle(pooled);
  }

  /** No new calls on it; those on it end by themselves, or move when they can. */
  function left(connection: PooledConnection): void {
    const isLast = openOf(connections) === 0;
    pace.left(connection, isLast);
    if (isLast) {
      limit = null;
      failures.lost(running);
    }
    connection.notifyHolders();
    closeIfIdle(connection);
    admit();
  }

  function closeIfIdle(connection: PooledConnection): void {
    if (connection.streams() > 0 || isNeeded(connection, connections)) return;
    connections.delete(connection);
    connection.close();
  }

  return {
    acquire: (holder, signal) => waitFor(waiters, holder, signal, admit),
    state: () => ({ ...stateOf(connections, failures), waiting: waiters.size, streamLimit: limit }),
    async run(signal) {
      running = signal;
      every(clock, silenceLookMs(times.streamSilenceMs), signal, () => {
        for (const connection of [...connections]) connection.look();
      });
      admit();
      await aborted(signal);
      for (const connection of connections) connection.close();
      connections.clear();
    },
  };
}

/**
 * How many further connections the waiting streams need. While there is no connection at all, one attempt is
 * made at a time: all connections at once would burden a service that comes back.
 */
function wantedConnections(
  connections: ReadonlySet<PooledConnection>,
  waiting: number,
  limit: number | null,
): number {
  const isAny = [...connections].some((each) => each.takesStreams());
  return isAny ? Math.ceil(waiting / capacityOf(limit ?? USUAL_LIMIT)) : 1;
}

/** The last connection stays open without a stream. */
function isNeeded(connection: PooledConnection, connections: ReadonlySet<PooledConnection>): boolean {
  if (connection.phase() !== "open") return false;
  return ![...connections].some((other) => other !== connection && other.takesStreams());
}

function openOf(connections: ReadonlySet<PooledConnection>): number {
  return [...connections].filter((each) => each.phase() === "open").length;
}

function stateOf(connections: ReadonlySet<PooledConnection>, failures: ReturnType<typeof createFailures>) {
  return {
    connections: openOf(connections),
    streams: [...connections].reduce((sum, connection) => sum + connection.streams(), 0),
    failures: failures.count(),
    problem: openOf(connections) === 0 ? failures.problem() : null,
  };
}

/** Why there is no connection. Logs each new reason. */
function createFailures(log: Log) {
  let problem: string | null = "not connected yet";
  let count = 0;
  return {
    problem: () => problem,
    count: () => count,
    note(error: unknown, { aborted: isStopping }: AbortSignal): void {
      const message = messageOf(error);
      count += 1;
      if (problem !== message && !isStopping) log.warn({ problem: message }, "no connection to the service");
      problem = message;
    },
    lost({ aborted: isStopping }: AbortSignal): void {
      problem ??= "the connection was lost";
      if (!isStopping) log.warn({}, "the connection to the service was lost");
    },
    over(): void {
      problem = null;
    },
  };
}

function waitFor(
  waiters: Set<Waiter>,
  holder: PermitHolder,
  signal: AbortSignal,
  admit: () => void,
): Promise<StreamPermit | null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    const waiter: Waiter = {
      holder,
      resolve(permit) {
        unlisten();
        resolve(permit);
      },
    };
    const unlisten = onAbort(signal, () => {
      waiters.delete(waiter);
      resolve(null);
    });
    waiters.add(waiter);
    admit();
  });
}

/**
 * The first attempt after a GOAWAY is made at a random moment within this time: gateways that got it together
 * come back spread.
 */
const HANDOVER_MS = 100;

/** When the pool may try to connect. */
export interface ConnectPace {
  /** How long the next attempt has to wait, in milliseconds; 0 or less: not at all. */
  delayMs(): number;
  /** @param beganAtMs when the attempt began: its duration counts as waited */
  failed(beganAtMs: number): void;
  opened(): void;
  /** A connection accepts no more calls. `isLast`: there is no other. */
  left(connection: PooledConnection, isLast: boolean): void;
}

/**
 * Backoff after failures, and after short-lived connections: other open connections are no reason to hammer
 * at the server.
 */
function createConnectPace(times: FleetTimes, clock: Clock, random: RandomSource): ConnectPace {
  const backoff = createBackoff({ baseMs: times.backoffBaseMs, capMs: times.backoffCapMs }, random);
  /** When the last failed attempt began, or when the last connection was lost; null: no wait is due. */
  let failedAtMs: number | null = null;
  /** When a short-lived connection was last lost; null: none was. */
  let shortLivedAtMs: number | null = null;
  /** The last connection, if the server sent GOAWAY on it: its streams may live on for the moment. */
  let handover: PooledConnection | null = null;

  return {
    delayMs() {
      const nowMs = clock.monotonicMs();
      const left = handover;
      handover = null;
      // Streams that still live on it are no failure: the new connection must be there before they are cut.
      if (left !== null && left.streams() > 0) return random() * HANDOVER_MS;
      const isShortLived = shortLivedAtMs !== null && nowMs - shortLivedAtMs < times.backoffCapMs;
      const sinceMs = failedAtMs ?? (isShortLived ? shortLivedAtMs : null);
      return sinceMs === null ? 0 : backoff.nextMs() - (nowMs - sinceMs);
    },
    failed(beganAtMs) {
      failedAtMs = beganAtMs;
    },
    opened() {
      failedAtMs = null;
    },
    left(connection, isLast) {
      const nowMs = clock.monotonicMs();
      const livedMs = nowMs - connection.openedAtMs;
      // A connection that lived was no failure: the next attempt comes soon.
      if (livedMs > times.backoffCapMs) backoff.reset();
      if (livedMs < SETTLED_MS) shortLivedAtMs = nowMs;
      if (!isLast) return;
      failedAtMs = nowMs;
      if (livedMs >= SETTLED_MS && connection.phase() === "leaving") handover = connection;
    },
  };
}
