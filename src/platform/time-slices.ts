/** Divides long work into time slices, so that everything else goes on beside it. */
export interface TimeSlices {
  /** Ends the time slice if it was long enough. Await it between two small steps of the work. */
  next(): Promise<void> | undefined;
}

/** A following step may take some milliseconds itself, and the machine may be slow. */
const SLICE_MS = 8;

/** Begins with a time slice. Times are real ones: work blocks the loop by the processor's clock. */
export function createTimeSlices(sliceMs = SLICE_MS): TimeSlices {
  let beganMs = performance.now();
  return {
    next() {
      if (performance.now() - beganMs < sliceMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          beganMs = performance.now();
          resolve();
        });
      });
    },
  };
}
