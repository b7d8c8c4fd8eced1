import type { Clock } from "../../src/platform/clock.ts";
import { createManualClock } from "./manual-clock.ts";

/** A clock that runs by itself until it is closed. */
export interface IdleClock extends Clock {
  /** Resolves when so much of its time has passed. */
  pass(durationMs: number): Promise<void>;
  close(): void;
}

const TICK_MS = 5;

/**
 * Time that passes while this process has nothing to do, and then `pace` times as fast as the machine's.
 * While it works, time stands still; while others keep it from running, too. Both sides of a test live in
 * this process: what one waits for in vain takes a part of its time, and what the other answers is there in
 * time.
 */
export function createIdleClock(pace: number): IdleClock {
  const clock = createManualClock(Date.now());
  let countedMs = performance.eventLoopUtilization().idle;
  const ticking = setInterval(() => {
    const idleMs = performance.eventLoopUtilization().idle;
    const passedMs = Math.min(idleMs - countedMs, TICK_MS);
    countedMs = idleMs;
    clock.advance(passedMs * pace);
  }, TICK_MS);
  const { monotonicMs, after } = clock;
  return {
    // Whole milliseconds, as a machine's wall clock tells.
    nowMs: () => Math.floor(clock.nowMs()),
    monotonicMs,
    after,
    pass: (durationMs) =>
      new Promise((resolve) => {
        after(durationMs, resolve);
      }),
    close: () => clearInterval(ticking),
  };
}
