/** A random source of numbers in [0, 1), as Math.random is. Injected, so that a seed repeats a run. */
export type RandomSource = () => number;

/** Bounds of a backoff, in milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Delays that grow with each failure, with full jitter. */
export interface Backoff {
  /** The next delay in milliseconds: uniform between 0 and base · 2ⁿ, at most the cap. */
  nextMs(): number;
  /** Starts again from the base, after a success. */
  reset(): void;
}

/**
 * Exponential backoff with full jitter: clients that lost the same service at the
 * same moment come back spread over the whole interval, not all at once.
 */
export function createBackoff(options: BackoffOptions, random: RandomSource): Backoff {
  let attempt = 0;
  return {
    nextMs() {
      const ceilingMs = Math.min(options.capMs, options.baseMs * 2 ** attempt);
      if (ceilingMs < options.capMs) attempt += 1;
      return random() * ceilingMs;
    },
    reset() {
      attempt = 0;
    },
  };
}
