import type { Batch } from "../contracts/link.ts";
import { QUALITY_TICK_MS } from "../domain/detection.ts";
import { type Clock, every } from "../platform/clock.ts";
import { aborted, type Component } from "../platform/component.ts";
import { createPulse } from "../platform/liveness.ts";
import type { FleetState } from "./fleet-state.ts";

export interface QualityTickerParts {
  readonly clock: Clock;
  readonly state: Pick<FleetState, "tick">;
  readonly tell: (batch: Batch) => void;
}

/** Sixty ticks. */
const HANG_MS = 30_000;

/** Quality must be polled, because silence changes it; otherwise stale values would stay good. */
export function createQualityTicker({ clock, state, tell }: QualityTickerParts): Component {
  const pulse = createPulse(HANG_MS, clock);
  return {
    name: "quality",
    health: () => ({ state: "up" }),
    hang: pulse.hang,
    async run(signal, ready) {
      pulse.beat();
      every(clock, QUALITY_TICK_MS, signal, () => {
        tell(state.tick());
        pulse.beat();
      });
      ready();
      await aborted(signal);
      pulse.end();
    },
  };
}
