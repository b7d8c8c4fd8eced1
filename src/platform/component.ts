/** What an operator needs to know of a part of the daemon. */
export interface Health {
  readonly state: "starting" | "up" | "degraded" | "down";
  /** One sentence for a person, without secrets. */
  readonly detail?: string;
  /** Figures worth watching: depths, counts, ages in the unit their name carries. */
  readonly figures?: Readonly<Record<string, number>>;
}

/**
 * A part that runs for as long as the daemon does.
 *
 * `run` is called once. It calls `ready` when the part does its job (a server has
 * bound its port); it resolves after `signal` is aborted and everything is
 * cleaned up, and rejects when it cannot go on. A constructor does nothing.
 */
export interface Component {
  readonly name: string;
  run(signal: AbortSignal, ready: () => void): Promise<void>;
  health(): Health;
  /**
   * Why the part does its job no more although nothing outside has failed, so that a restart would mend it;
   * null while it answers. A part without the question counts as alive.
   */
  hang?(): string | null;
}

/** Resolves when the signal is aborted; at once when it already is. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
