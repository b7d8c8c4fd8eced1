import { QUALITY_TICK_MS } from "../domain/detection.ts";
import { type Clock, every } from "../platform/clock.ts";
import { aborted, type Component } from "../platform/component.ts";
import { createWatchdog } from "../platform/liveness.ts";

/** Sixty ticks. */
const HANG_MS = 30_000;

/** Quality must be polled, because silence changes it; otherwise stale values would stay good. */
export function createQualityTicker(clock: Clock, tick: () => void): Component {
  const watchdog = createWatchdog(HANG_MS, clock);
  return {
    name: "quality",
    health: () => ({ state: "up" }),
    hang: watchdog.hang,
    async run(signal, ready) {
      watchdog.touch();
      every(clock, QUALITY_TICK_MS, signal, () => {
        tick();
        watchdog.touch();
      });
      ready();
      await aborted(signal);
      watchdog.end();
    },
  };
}
