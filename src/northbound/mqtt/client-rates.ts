import type { Clock } from "../../platform/clock.ts";

/** How many commands one client may send. */
export interface ClientRate {
  /** On average. */
  readonly perSecond: number;
  /** At once, after a rest. */
  readonly burst: number;
}

/** What a client's rate says to one more message of it. */
export type RateVerdict =
  | { readonly kind: "within" }
  /** `refusedBefore` is the number of messages that were refused since the last one with `isTold`. */
  | { readonly kind: "over"; readonly isTold: boolean; readonly refusedBefore: number };

/** Each client's own rate, as a token bucket. */
export interface ClientRates {
  /** Counts one more message of the client. Of those over the rate, one a second is to be told in log and audit. */
  take(client: string): RateVerdict;
}

const TELL_PERIOD_MS = 1_000;
/** Clients may choose their names: those that have rested long enough are forgotten from this number on. */
const MANY_CLIENTS = 1_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
  toldAtMs: number;
  refused: number;
}

const within: RateVerdict = { kind: "within" };

export function createClientRates(rate: ClientRate, clock: Pick<Clock, "monotonicMs">): ClientRates {
  const buckets = new Map<string, Bucket>();

  function fill(bucket: Bucket, nowMs: number): void {
    const gained = ((nowMs - bucket.filledAtMs) / 1_000) * rate.perSecond;
    bucket.tokens = Math.min(rate.burst, bucket.tokens + gained);
    bucket.filledAtMs = nowMs;
  }

  function open(client: string, nowMs: number): Bucket {
    if (buckets.size >= MANY_CLIENTS) forgetRested(nowMs);
    const bucket = { tokens: rate.burst, filledAtMs: nowMs, toldAtMs: Number.NEGATIVE_INFINITY, refused: 0 };
    buckets.set(client, bucket);
    return bucket;
  }

  function forgetRested(nowMs: number): void {
    for (const [client, bucket] of buckets) {
      fill(bucket, nowMs);
      if (bucket.tokens >= rate.burst) buckets.delete(client);
    }
  }

  return {
    take(client) {
      const nowMs = clock.monotonicMs();
      const bucket = buckets.get(client) ?? open(client, nowMs);
      fill(bucket, nowMs);
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return within;
      }
      const refusedBefore = bucket.refused;
      const isTold = nowMs - bucket.toldAtMs >= TELL_PERIOD_MS;
      if (isTold) bucket.toldAtMs = nowMs;
      bucket.refused = isTold ? 0 : refusedBefore + 1;
      return { kind: "over", isTold, refusedBefore };
    },
  };
}
