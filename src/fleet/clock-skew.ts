import type { Clock } from "../platform/clock.ts";

/** The service's clock compared with this machine's, by the Date of its HTTP answers. */
export interface ClockSkew {
  /** Takes the Date of an answer that begins now, and the monotonic time at which its request left. */
  received(date: string | undefined, sentAtMs: number): void;
  /**
   * How many milliseconds the service's clock is ahead of this machine's at least, at this moment; negative:
   * behind. Null before the first answer with a Date. A wall clock that is set shows at once, because the
   * service's time is carried on by the monotonic clock.
   */
  nowMs(): number | null;
}

/** A Date has whole seconds, rounded down (RFC 9110, 5.6.7). */
const DATE_STEP_MS = 1_000;

export function createClockSkew(clock: Pick<Clock, "nowMs" | "monotonicMs">): ClockSkew {
  /**
   * The service's clock minus the monotonic one: the Date was made at some moment between sending and answer.
   */
  let offset: { readonly leastMs: number; readonly mostMs: number } | null = null;

  return {
    received(date, sentAtMs) {
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
