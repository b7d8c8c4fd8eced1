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
