/** Closes resources in reverse order, even if closing one of them fails. */
export interface Closer {
  /** Adds the way to close a resource that was just opened. */
  add(close: () => Promise<void> | void): void;
  /** Closes everything once. Rejects with the first failure after all were tried. */
  close(): Promise<void>;
}

/** Node 20 has no AsyncDisposableStack; this is as much of it as we need. */
export function createCloser(): Closer {
  const steps: Array<() => Promise<void> | void> = [];
  return {
    add(close) {
      steps.push(close);
    },
    async close() {
      const failures: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
