import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";

/**
 * Clients that were refused for lack of room: counted, logged once a minute each, and reported to the health.
 */
export interface ClientRefusals {
  refuse(client: string, text: string): void;
  readonly count: number;
  /** The last refusal, for a minute; null: none. */
  problem(): string | null;
}

const TOLD_FOR_MS = 60_000;

export function createClientRefusals(clock: Clock, log: Log): ClientRefusals {
  const loggedAtMs = new Map<string, number>();
  let count = 0;
  let last: { readonly atMs: number; readonly text: string } | null = null;
  return {
    refuse(client, text) {
      count += 1;
      const nowMs = clock.monotonicMs();
      last = { atMs: nowMs, text };
      if (nowMs - (loggedAtMs.get(client) ?? Number.NEGATIVE_INFINITY) < TOLD_FOR_MS) return;
      loggedAtMs.set(client, nowMs);
      log.warn({ reason: text }, "an OPC UA client was refused for want of room");
    },
    get count() {
      return count;
    },
    problem: () => (last !== null && clock.monotonicMs() - last.atMs < TOLD_FOR_MS ? last.text : null),
  };
}
