import { LATEST_RENEWAL } from "../../domain/detection.ts";
import type { RandomSource } from "../../platform/backoff.ts";

/** A renewal takes place from this share of `resyncMs` on. */
const RENEW_FROM = 0.65;
/**
 * The moments in a `resyncMs` at which streams are renewed: a wake-up for each stream would cost more than
 * its renewal.
 */
const MOMENTS = 64;

/** When a stream is renewed. */
export interface RenewalPlan {
  /** From `nowMs`, monotonic, to the next renewal, in milliseconds. */
  delayMs(nowMs: number): number;
  /**
   * The same for a renewal on request, which should wait `backoffMs` from now. It is never later than the
   * last planned one, because the robots of the whole stream depend on that.
   */
  onRequestMs(nowMs: number, backoffMs: number): number;
  /** The stream was lost, together with others that come again at the same time. */
  restart(): void;
}

/**
 * Plans renewals between 0.65 and 0.7 of `resyncMs`, which may become less with time, so that a lost snapshot
 * can be asked for again in time. The first renewal may be at any moment before: so streams that began
 * together part, and stay apart. All streams share the moments.
 */
export function planRenewals(resyncMs: () => number, random: RandomSource): RenewalPlan {
  let isFirst = true;
  let plannedAtMs = Number.POSITIVE_INFINITY;
  return {
    delayMs(nowMs) {
      const from = isFirst ? 0 : RENEW_FROM;
      isFirst = false;
      const dueMs = nowMs + resyncMs() * (from + (LATEST_RENEWAL - from) * random());
      const stepMs = resyncMs() / MOMENTS;
      plannedAtMs = Math.max(nowMs, Math.floor(dueMs / stepMs) * stepMs);
      return plannedAtMs - nowMs;
    },
    onRequestMs: (nowMs, backoffMs) => Math.max(0, Math.min(backoffMs, plannedAtMs - nowMs)),
    restart() {
      isFirst = true;
    },
  };
}
