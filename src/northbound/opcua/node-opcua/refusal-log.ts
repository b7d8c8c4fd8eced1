import { BoundedMap } from "../../../platform/bounded-map.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createLineBudget } from "../../../platform/line-budget.ts";
import type { Log } from "../../../platform/log.ts";

/** Counts clients that were refused for one reason, and logs each once, within bounds. */
export interface RefusalLog {
  readonly count: number;
  /** @param key distinguishes this client from others */
  note(key: string, fields: Readonly<Record<string, unknown>>): void;
}

const MOST_REMEMBERED = 500;
const lineBounds = { most: 10, windowMs: 60_000 };

/** @param more the line with the number of clients that were not named */
export function createRefusalLog(clock: Clock, log: Log, more: string): RefusalLog {
  const logged = new BoundedMap<string, true>(MOST_REMEMBERED);
  const lines = createLineBudget(clock, lineBounds, (left) => log.warn({ count: left }, more));
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(key, fields) {
      count += 1;
      if (logged.has(key) || !lines.take()) return;
      logged.set(key, true);
      log.warn(fields, "an OPC UA client was refused");
    },
  };
}
