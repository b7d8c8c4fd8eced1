import type { Clock } from "./clock.ts";

/** The wall clock, and what it would be had nobody set it since it was last known to be right. */
export interface SteadyWall {
  /**
   * The later of the two, in milliseconds since 1970: a clock that is set back makes no moment come a second
   * time.
   */
  latestMs(): number;
  /** The wall clock is known to be right: from now on it is what counts. */
  confirm(): void;
}

export function createSteadyWall(clock: Pick<Clock, "nowMs" | "monotonicMs">): SteadyWall {
  let anchorMs = clock.nowMs() - clock.monotonicMs();
  return {
    latestMs: () => Math.max(clock.nowMs(), anchorMs + clock.monotonicMs()),
    confirm() {
      anchorMs = clock.nowMs() - clock.monotonicMs();
    },
  };
}
