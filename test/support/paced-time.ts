import type { ManualClock } from "./manual-clock.ts";

/** How time passes on a manual clock while real messages travel. */
export interface Pace {
  readonly stepMs: number;
  /** One request there and back, over the real network. */
  roundTrip(): Promise<unknown>;
}

/**
 * Lets time pass in steps, and only as fast as the other side answers: a slow machine makes a
 * test slow, not wrong. Ends early when `isOver`. Resolves with what has passed, in milliseconds.
 */
export async function pass(
  clock: ManualClock,
  durationMs: number,
  pace: Pace,
  isOver: () => boolean = () => false,
): Promise<number> {
  let passedMs = 0;
  while (passedMs < durationMs && !isOver()) {
    clock.advance(pace.stepMs);
    passedMs += pace.stepMs;
    await pace.roundTrip();
  }
  return passedMs;
}
