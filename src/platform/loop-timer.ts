import type { Clock } from "./clock.ts";

/** Counts the time in which the event loop ran. */
export interface LoopTimer {
  elapsedMs(): number;
  /** Counts no further. */
  stop(): void;
}

/** Longer than a turn of the event loop. Beyond it, the loop stood still. */
const STEP_MS = 100;

/**
 * Times what a disk or another process does. An answer that is there can only be read when the event loop
 * runs: the time in which it stood still is not theirs (docs/internals/decisions.md, A loop that stands still
 * is no slow disk).
 *
 * @param onLimit is called once if it takes `limitMs`
 */
export function startLoopTimer(
  clock: Pick<Clock, "monotonicMs" | "after">,
  limitMs = Number.POSITIVE_INFINITY,
  onLimit: () => void = () => {},
): LoopTimer {
  let countedMs = 0;
  let stepMs = 0;
  let stepBeganAtMs = 0;
  let cancel = () => {};

  const ofStepMs = () => Math.min(clock.monotonicMs() - stepBeganAtMs, stepMs);

  function arm(): void {
    stepBeganAtMs = clock.monotonicMs();
    stepMs = Math.min(STEP_MS, limitMs - countedMs);
    cancel = clock.after(stepMs, () => {
      countedMs += stepMs;
      stepMs = 0;
      if (countedMs >= limitMs) onLimit();
      else arm();
    });
  }

  arm();
  return {
    elapsedMs: () => countedMs + ofStepMs(),
    stop() {
      countedMs += ofStepMs();
      stepMs = 0;
      cancel();
    },
  };
}
