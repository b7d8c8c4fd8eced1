import { BoundedMap } from "../../platform/bounded-map.ts";
/** At most `count` requests in any `windowMs`. */
export interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

/** Counts requests of many clients against one limit. */
export interface RateLimit {
  /** Counts one request of `client`. False: it is past the limit, and not counted. */
  admit(client: string): boolean;
}

/** How many clients are remembered: one client with many addresses must not fill the memory. */
const MOST_CLIENTS = 10_000;

/**
 * A sliding window for each client. Refused requests are not counted: a client that keeps asking passes as
 * soon as its window allows it.
 */
export function createRateLimit(limit: Limit, nowMs: () => number): RateLimit {
  const admittedMs = new BoundedMap<string, number[]>(MOST_CLIENTS);
  return {
    admit(client) {
      const now = nowMs();
      const recent = (admittedMs.get(client) ?? []).filter((at) => now - at < limit.windowMs);
      const admitted = recent.length < limit.count;
      if (admitted) recent.push(now);
      admittedMs.set(client, recent);
      return admitted;
    },
  };
}
