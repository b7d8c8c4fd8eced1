/** At most `count` requests in any `windowMs`. */
export interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

/** Counts requests of many clients against one limit. */
export interface RateLimit {
  /** Counts one request of `client`, unless it is past the limit: then false, and nothing is counted. */
  admit(client: string): boolean;
}

// Somebody with many addresses must not fill our memory: past this the longest known are forgotten.
const MOST_CLIENTS = 10_000;

/**
 * A sliding window for each client. Refused requests are not counted: a client
 * that keeps asking gets in as soon as its window allows.
 */
export function createRateLimit(limit: Limit, nowMs: () => number): RateLimit {
  const admittedMs = new Map<string, number[]>();
  return {
    admit(client) {
      const now = nowMs();
      const recent = (admittedMs.get(client) ?? []).filter((at) => now - at < limit.windowMs);
      const admitted = recent.length < limit.count;
      if (admitted) recent.push(now);
      admittedMs.delete(client);
      admittedMs.set(client, recent);
      forgetOldest(admittedMs);
      return admitted;
    },
  };
}

function forgetOldest(admittedMs: Map<string, number[]>): void {
  if (admittedMs.size <= MOST_CLIENTS) return;
  const [oldest] = admittedMs.keys();
  if (oldest !== undefined) admittedMs.delete(oldest);
}
