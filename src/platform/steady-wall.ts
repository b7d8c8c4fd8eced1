import type { Clock } from "./clock.ts";

/**
 * The wall clock, and the time that it would show if nobody had set it since it was last known to be right.
 */
export interface SteadyWall {
  /**
   * The later of the two, in milliseconds since 1970: with a clock that is set back, no moment comes twice.
   */
  latestMs(): number;
  /** The right time is known: it is so far ahead of the wall clock; 0: the clock is right. */
  confirm(aheadMs: number): void;
}

export function createSteadyWall(clock: Pick<Clock, "nowMs" | "monotonicMs">): SteadyWall {
  let anchorMs = clock.nowMs() - clock.monotonicMs();
  return {
    latestMs: () => Math.max(clock.nowMs(), anchorMs + clock.monotonicMs()),
    confirm(aheadMs) {
      anchorMs = clock.nowMs() + aheadMs - clock.monotonicMs();
    },
  };
}
