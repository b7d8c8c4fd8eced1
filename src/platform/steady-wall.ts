import type { Clock } from "./clock.ts";

/** The wall clock, and what it would be had nobody set it since it was last known to be right. */
export interface SteadyWall {
  /**
   * The later of the two, in milliseconds since 1970: a clock that is set back makes no moment come a second
   * time.
   */
  latestMs(): number;
  /** From now on this is what counts: the right time is so far ahead of the wall clock; 0: that is right. */
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
