import type { Clock } from "./clock.ts";

/** Divides long work into time slices, so that everything else goes on beside it. */
export interface TimeSlices {
  /** Ends the time slice if it was long enough. Await it between two small steps of the work. */
  next(): Promise<void> | undefined;
}

/** A following step may take some milliseconds itself, and the machine may be slow. */
const SLICE_MS = 8;
/**
 * Of the time. A busy event loop comes back late: slices of the same length would make the work last for
 * ever.
 */
const SHARE = 1 / 4;
const LONGEST_MS = 50;

/** Begins with a time slice. Times are real ones: work blocks the loop by the processor's clock. */
export function createTimeSlices(sliceMs = SLICE_MS): TimeSlices {
  let beganMs = performance.now();
  let lengthMs = sliceMs;
  return {
    next() {
      const endedMs = performance.now();
      if (endedMs - beganMs < lengthMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          beganMs = performance.now();
          const fairMs = ((beganMs - endedMs) * SHARE) / (1 - SHARE);
          lengthMs = Math.max(sliceMs, Math.min(fairMs, LONGEST_MS));
          resolve();
        });
      });
    },
  };
}

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
