/**
 * The end of a connection, reported once. Waiting for either a drain or the end goes through `orElse`: racing
 * a promise that lives for weeks would keep a reaction of every race until it settles.
 */
export interface Loss {
  readonly lost: Promise<Error>;
  /** Why the connection ended; null: it has not. */
  cause(): Error | null;
  report(cause: Error): void;
  /** Waits for the callback of `start`; rejects if the connection ends first. */
  orElse(start: (done: (error?: Error | null) => void) => void): Promise<void>;
}

export function createLoss(): Loss {
  let cause: Error | null = null;
  let notify: (cause: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    notify = resolve;
  });
  const waiting = new Set<(cause: Error) => void>();
  return {
    lost,
    cause: () => cause,
    report(error) {
      if (cause !== null) return;
      cause = error;
      notify(error);
      for (const reject of waiting) reject(error);
      waiting.clear();
    },
    orElse(start) {
      if (cause !== null) return Promise.reject(cause);
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        start((error) => {
          waiting.delete(reject);
          if (error) reject(error);
          else resolve();
        });
      });
    },
  };
}
