/** Divides long work into turns of the event loop, so that everything else goes on beside it. */
export interface Turns {
  /** Ends the turn if it was long enough. Await it between two small steps of the work. */
  next(): Promise<void> | undefined;
}

/** A following step may take some milliseconds itself, and the machine may be slow. */
const TURN_MS = 8;

/** Begins with a turn. Times are real ones: work blocks the loop by the processor's clock. */
export function createTurns(turnMs = TURN_MS): Turns {
  let beganMs = performance.now();
  return {
    next() {
      if (performance.now() - beganMs < turnMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          beganMs = performance.now();
          resolve();
        });
      });
    },
  };
}
