import { type Source, sourceKey } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { IntakeOptions, SourceRate } from "../options.ts";
import { failed } from "../own-refusals.ts";

/** A command beyond the rate of its source. */
export interface OverRate {
  readonly outcome: Outcome;
  /** One a second is logged and audited. */
  readonly isReported: boolean;
}

/** The rate of each source, as a token bucket. */
export interface RateLimits {
  /** Counts one more command. Null: it is within the rate of its source. */
  take(source: Source): OverRate | null;
  /** Commands over the rate since the start. */
  count(): number;
}

const TELL_PERIOD_MS = 1_000;
/** Clients may choose their names: beyond this number, sources with a full bucket are dropped. */
const MANY_SOURCES = 1_000;

interface Bucket {
  readonly rate: SourceRate;
  tokens: number;
  filledAtMs: number;
  reportedAtMs: number;
  /** Commands over the rate since the last report. */
  unreported: number;
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
      reportedAtMs: Number.NEGATIVE_INFINITY,
      unreported: 0,
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
    take(source) {
      const rate = rates[source.protocol];
      if (rate === undefined) return null;
      const nowMs = clock.monotonicMs();
      const key = sourceKey(source);
      const bucket = buckets.get(key) ?? open(key, rate, nowMs);
      fill(bucket, nowMs);
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return null;
      }
      count += 1;
      const outcome = tooMany(bucket);
      const isReported = nowMs - bucket.reportedAtMs >= TELL_PERIOD_MS;
      if (isReported) bucket.reportedAtMs = nowMs;
      bucket.unreported = isReported ? 0 : bucket.unreported + 1;
      return { outcome, isReported };
    },
    count: () => count,
  };
}

function fill(bucket: Bucket, nowMs: number): void {
  const gained = ((nowMs - bucket.filledAtMs) / 1_000) * bucket.rate.perSecond;
  bucket.tokens = Math.min(bucket.rate.burst, bucket.tokens + gained);
  bucket.filledAtMs = nowMs;
}

function tooMany({ rate: { perSecond, burst }, unreported }: Bucket): Outcome {
  const before = unreported === 0 ? "" : `; ${unreported} were refused since this was told last`;
  return refusal(
    "RATE_LIMITED",
    `this client sends more than ${perSecond} a second, ${burst} at once${before}`,
  );
}

/** Counts the commands with an awaited outcome, of all sources and of each. */
export interface InFlight {
  /**
   * Whether one more command of this source is too many. `isUrgent`: a stop, or a repetition of a known
   * command.
   */
  isFull(source: Source, isUrgent: boolean): boolean;
  /** Counts a command until it has its outcome. Never rejects: a rejection is a failure of the gateway. */
  follow(source: Source, outcome: Promise<Outcome>): Promise<Outcome>;
  readonly count: number;
}

/** The capacity with the reserve for stops and repetitions, as a multiple of the usual one. */
const URGENT_SHARE = 2;

export function createInFlight(
  { maxCommands, maxCommandsOfSource }: Pick<IntakeOptions, "maxCommands" | "maxCommandsOfSource">,
  log: Log,
): InFlight {
  const bySource = new Map<string, number>();
  let count = 0;

  function leave(key: string): void {
    count -= 1;
    const left = (bySource.get(key) ?? 0) - 1;
    if (left > 0) bySource.set(key, left);
    else bySource.delete(key);
  }

  return {
    isFull(source, isUrgent) {
      const share = isUrgent ? URGENT_SHARE : 1;
      return (
        count >= share * maxCommands || (bySource.get(sourceKey(source)) ?? 0) >= share * maxCommandsOfSource
      );
    },
    follow(source, outcome) {
      const key = sourceKey(source);
      count += 1;
      bySource.set(key, (bySource.get(key) ?? 0) + 1);
      return outcome.then(
        (final) => {
          leave(key);
          return final;
        },
        (error: unknown) => {
          leave(key);
          log.error({ err: error }, "a command failed inside the gateway");
          return failed();
        },
      );
    },
    get count() {
      return count;
    },
  };
}
