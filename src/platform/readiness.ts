/** Whether a daemon serves, for a load balancer or a script that starts it. */
export interface Readiness {
  /** Why it does not serve, as one sentence; null: it does. */
  problem(): string | null;
  /** Aborted when it accepts nothing new. */
  readonly stopping: AbortSignal;
  /** Each of its listeners listens, or was tried once. */
  opened(): void;
  /** It accepts nothing new from now on. */
  closing(): void;
}

export function createReadiness(): Readiness {
  const stopping = new AbortController();
  let problem: string | null = "it starts: not all of its parts are ready";
  return {
    problem: () => problem,
    stopping: stopping.signal,
    opened() {
      problem = null;
    },
    closing() {
      problem = "it stops";
      stopping.abort();
    },
  };
}
