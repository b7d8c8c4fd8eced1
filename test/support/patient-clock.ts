import type { Clock } from "../../src/platform/clock.ts";
import { createManualClock } from "./manual-clock.ts";

/** A clock that runs by itself until it is closed. */
export interface PatientClock extends Clock {
  close(): void;
}

const TICK_MS = 5;
/** What a tick may count at most: the rest is time in which this process did not get to run. */
const LONGEST_TICK_MS = 25;

/**
 * The machine's time, without the time in which this process did not get to run. Both sides of a
 * test live in one process: on a loaded machine neither could have answered then, so that time is
 * no silence of anybody's.
 */
export function createPatientClock(): PatientClock {
  const clock = createManualClock(Date.now());
  let tickedAtMs = performance.now();
  const ticking = setInterval(() => {
    const nowMs = performance.now();
    const passedMs = Math.min(nowMs - tickedAtMs, LONGEST_TICK_MS);
    tickedAtMs = nowMs;
    clock.advance(passedMs);
  }, TICK_MS);
  const { monotonicMs, after } = clock;
  // Whole milliseconds, as a machine's wall clock tells.
  const nowMs = () => Math.floor(clock.nowMs());
  return { nowMs, monotonicMs, after, close: () => clearInterval(ticking) };
}
