import { type Clock, every } from "./clock.ts";
import type { Health } from "./component.ts";
import type { Log } from "./log.ts";

export interface OutageLogParts {
  readonly health: () => Readonly<Record<string, Health>>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Outage {
  /** Wall time, for a reader of the log. */
  readonly since: string;
  readonly beganAtMs: number;
  loggedAtMs: number;
}

const LOOK_MS = 10_000;
const AGAIN_MS = 15 * 60_000;

/**
 * Logs every quarter of an hour that a component is still down, since when, and the last cause. The
 * components themselves log only the begin and the end of an outage. Runs until the signal is aborted.
 */
export function logOutages({ health, clock, log }: OutageLogParts, signal: AbortSignal): void {
  const outages = new Map<string, Outage>();

  function look(): void {
    const nowMs = clock.monotonicMs();
    for (const [part, { state, detail }] of Object.entries(health())) {
      if (state !== "down") {
        outages.delete(part);
        continue;
      }
      const outage = outages.get(part);
      if (outage === undefined) {
        const since = new Date(clock.nowMs()).toISOString();
        outages.set(part, { since, beganAtMs: nowMs, loggedAtMs: nowMs });
      } else if (nowMs - outage.loggedAtMs >= AGAIN_MS) {
        outage.loggedAtMs = nowMs;
        const minutes = Math.round((nowMs - outage.beganAtMs) / 60_000);
        log.warn({ part, since: outage.since, minutes, cause: detail }, "the part is still down");
      }
    }
  }

  every(clock, LOOK_MS, signal, look);
}
