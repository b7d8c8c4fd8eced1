/** Whether a daemon serves: what a load balancer, or a script that starts it, asks. */
export interface Readiness {
  /** Why it does not serve, as one sentence; null while it does. */
  problem(): string | null;
  /** All its listeners are bound. */
  opened(): void;
  /** It takes nothing new from now on. */
  closing(): void;
}

export function createReadiness(): Readiness {
  let problem: string | null = "it starts: not all of its parts are ready";
  return {
    problem: () => problem,
    opened() {
      problem = null;
    },
    closing() {
      problem = "it stops";
    },
  };
}
