import type { Clock } from "../../platform/clock.ts";

/** How many events may be handed over now, so that no second gets more than its share. */
export interface Pace {
  allowance(): number;
  spend(count: number): void;
  /** How long until there is an allowance again. */
  waitMs(): number;
}

/** A pause saves allowance for this part of a second only, so that no burst follows it. */
const SAVED_MS = 100;
/** A wake-up costs more than handing over one event. */
const SHORTEST_WAIT_MS = 20;

export function createPace(perSecond: number, clock: Pick<Clock, "monotonicMs">): Pace {
  const most = Math.max(1, (perSecond * SAVED_MS) / 1_000);
  let saved = most;
  let atMs = clock.monotonicMs();

  function refill(): void {
    const nowMs = clock.monotonicMs();
    saved = Math.min(most, saved + ((nowMs - atMs) * perSecond) / 1_000);
    atMs = nowMs;
  }

  return {
    allowance() {
      refill();
      return Math.floor(saved);
    },
    spend(count) {
      saved -= count;
    },
    waitMs: () => Math.max(SHORTEST_WAIT_MS, ((1 - saved) * 1_000) / perSecond),
  };
}
