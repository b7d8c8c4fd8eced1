import type { Source } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { IntakeOptions, SourceRate } from "../options.ts";

/** A command that goes over the rate of its source. */
export interface OverRate {
  readonly outcome: Outcome;
  /** One a second is told in log and audit. */
  readonly isTold: boolean;
}

/** The rate of each source, as a token bucket. */
export interface RateLimits {
  /** Counts one more command. Null: it is within the rate of its source. */
  take(source: Source): OverRate | null;
  /** Commands over the rate since the start. */
  count(): number;
}

const TELL_PERIOD_MS = 1_000;
/** Clients may choose their names: from this number on, sources whose bucket is full are forgotten. */
const MANY_SOURCES = 1_000;

interface Bucket {
  readonly rate: SourceRate;
  tokens: number;
  filledAtMs: number;
  toldAtMs: number;
  /** Commands over the rate since it was told last. */
  untold: number;
}

export function createRateLimits(
  rates: IntakeOptions["rates"],
  clock: Pick<Clock, "monotonicMs">,
): RateLimits {
  const buckets = new Map<string, Bucket>();
  let count = 0;

  function open(key: string, rate: SourceRate, nowMs: number): Bucket {
    if (buckets.size >= MANY_SOURCES) forgetFull(nowMs);
    const bucket = {
      rate,
      tokens: rate.burst,
      filledAtMs: nowMs,
      toldAtMs: Number.NEGATIVE_INFINITY,
      untold: 0,
    };
    buckets.set(key, bucket);
    return bucket;
  }

  function forgetFull(nowMs: number): void {
    for (const [key, bucket] of buckets) {
      fill(bucket, nowMs);
      if (bucket.tokens >= bucket.rate.burst) buckets.delete(key);
    }
  }

  return {
    take({ protocol, name }) {
      const rate = rates[protocol];
      if (rate === undefined) return null;
      const nowMs = clock.monotonicMs();
      const key = `${protocol}:${name}`;
      const bucket = buckets.get(key) ?? open(key, rate, nowMs);
      fill(bucket, nowMs);
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return null;
      }
      count += 1;
      const outcome = tooMany(bucket);
      const isTold = nowMs - bucket.toldAtMs >= TELL_PERIOD_MS;
      if (isTold) bucket.toldAtMs = nowMs;
      bucket.untold = isTold ? 0 : bucket.untold + 1;
      return { outcome, isTold };
    },
    count: () => count,
  };
}

function fill(bucket: Bucket, nowMs: number): void {
  const gained = ((nowMs - bucket.filledAtMs) / 1_000) * bucket.rate.perSecond;
  bucket.tokens = Math.min(bucket.rate.burst, bucket.tokens + gained);
  bucket.filledAtMs = nowMs;
}

function tooMany({ rate: { perSecond, burst }, untold }: Bucket): Outcome {
  const before = untold === 0 ? "" : `; ${untold} were refused since this was told last`;
  return refusal(
    "RATE_LIMITED",
    `this client sends more than ${perSecond} a second, ${burst} at once${before}`,
  );
}
