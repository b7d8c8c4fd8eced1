import type { Clock } from "../platform/clock.ts";

/** The service's clock against this machine's, by the Date of its answers over HTTP. */
export interface ClockSkew {
  /** An answer that began now, to a request that left at `sentAtMs` of the monotonic clock. */
  heard(date: string | undefined, sentAtMs: number): void;
  /**
   * How many milliseconds the service's clock is ahead of this machine's at least, at this moment; negative:
   * behind. Null before the first answer with a Date. A wall clock that is set shows at once: the service's
   * is carried on by the monotonic one.
   */
  nowMs(): number | null;
}

/** A Date has whole seconds, cut off (RFC 9110, 5.6.7). */
const DATE_STEP_MS = 1_000;

export function createClockSkew(clock: Pick<Clock, "nowMs" | "monotonicMs">): ClockSkew {
  /**
   * What the service's clock was minus the monotonic one: it was made at some moment between sending and
   * answer.
   */
  let offset: { readonly leastMs: number; readonly mostMs: number } | null = null;

  return {
    heard(date, sentAtMs) {
      const serviceMs = Date.parse(date ?? "");
      if (Number.isNaN(serviceMs)) return;
      offset = { leastMs: serviceMs - clock.monotonicMs(), mostMs: serviceMs + DATE_STEP_MS - sentAtMs };
    },
    nowMs() {
      if (offset === null) return null;
      const aheadMs = clock.monotonicMs() - clock.nowMs();
      const least = offset.leastMs + aheadMs;
      const most = offset.mostMs + aheadMs;
      return Math.max(least, Math.min(most, 0));
    },
  };
}
