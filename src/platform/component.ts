import type { Clock } from "./clock.ts";

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

/** The health of components by name, and since when each is in its state. */
interface HealthHistory {
  health(): Readonly<Record<string, Health>>;
  /** Wall time since when a component is known to be in its state; null: not known. */
  sinceMs(name: string): number | null;
  /** Call it about once a second. It reads the health if no other caller does. */
  note(): void;
}

/** A caller that reads once a second is late now and then. */
const NOTED_MS = 1_500;

/** @param read returns the present health */
export function createHealthHistory(
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  read: () => Readonly<Record<string, Health>>,
): HealthHistory {
  const states = new Map<string, { readonly state: Health["state"]; readonly sinceMs: number }>();
  let askedAtMs = Number.NEGATIVE_INFINITY;

  function health(): Readonly<Record<string, Health>> {
    const parts = read();
    askedAtMs = clock.monotonicMs();
    for (const name in parts) {
      const state = parts[name]?.state;
      if (state !== undefined && states.get(name)?.state !== state)
        states.set(name, { state, sinceMs: clock.nowMs() });
    }
    return parts;
  }

  return {
    health,
    sinceMs: (name) => states.get(name)?.sinceMs ?? null,
    note() {
      if (clock.monotonicMs() - askedAtMs >= NOTED_MS) health();
    },
  };
}

/** Merges two healths of one component: the second knows what is wrong. */
export function mergedHealth(runner: Health, link: Health): Health {
  const state = runner.state === "up" ? link.state : runner.state;
  const { detail = runner.detail } = link;
  return {
    state,
    ...(detail === undefined ? {} : { detail }),
    figures: { ...runner.figures, ...link.figures },
  };
}

/** The states of health. */
export const worstFirst: readonly Health["state"][] = ["down", "starting", "degraded", "up"];

/** The state of the worst part; without parts, nothing has started. */
export function worstState(parts: readonly Health[]): Health["state"] {
  return worstFirst.find((state) => parts.some((part) => part.state === state)) ?? "starting";
}

/**
 * The health of a daemon's components as it is published: the names of figures are in snake_case, like all
 * published names.
 */
export function publishedHealth(parts: Readonly<Record<string, Health>>): Record<string, Health> {
  const published: Record<string, Health> = {};
  for (const [name, part] of Object.entries(parts)) {
    published[name] = part.figures === undefined ? part : { ...part, figures: snakeCase(part.figures) };
  }
  return published;
}

function snakeCase(figures: Readonly<Record<string, number>>): Record<string, number> {
  const renamed = Object.entries(figures).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(renamed);
}

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
