/** The state of a component of the daemon, for an operator. */
export interface Health {
  readonly state: "starting" | "up" | "degraded" | "down";
  /** One sentence for a person, without secrets. */
  readonly detail?: string;
  /** Figures to watch: depths, counts, ages in the unit of their names. */
  readonly figures?: Readonly<Record<string, number>>;
}

/**
 * A part of the daemon that the supervisor runs. `run` is called once. It calls `ready` when the component
 * does its job (a server has bound its port). It resolves after `signal` is aborted and everything is cleaned
 * up, and rejects when it cannot go on. A constructor does nothing.
 */
export interface Component {
  readonly name: string;
  run(signal: AbortSignal, ready: () => void): Promise<void>;
  health(): Health;
  /**
   * Why the component no longer does its job although nothing outside has failed, so that a restart would
   * mend it; null: it is alive. A component without this method counts as alive.
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
