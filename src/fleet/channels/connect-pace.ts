import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import type { FleetTimes } from "../options.ts";
import { type PooledConnection, SETTLED_MS } from "./pooled-connection.ts";

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
export function createConnectPace(times: FleetTimes, clock: Clock, random: RandomSource): ConnectPace {
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
