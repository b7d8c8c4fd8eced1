import type { Clock } from "./clock.ts";
import type { Health } from "./component.ts";

/** The health of components by name, and since when each is in its state. */
export interface HealthHistory {
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
