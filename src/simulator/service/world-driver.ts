import { type Clock, every } from "../../platform/clock.ts";
import type { World } from "../world/world.ts";

/** Drives a world's time by a clock. */
export interface WorldDriver {
  /** Brings the world up to the present. */
  sync(): void;
  /** The wall time, in milliseconds since 1970, of a moment of the world. */
  wallMs(worldMs: number): number;
  /** Keeps the world up to now until the signal is aborted. */
  run(signal: AbortSignal): void;
}

/** Short beside all durations in the world, and cheap if nothing is due. */
const TICK_MS = 50;

/** Drives a world at `timeFactor` times the speed of the clock, from the moment of this call. */
export function createWorldDriver(world: World, clock: Clock, timeFactor: number): WorldDriver {
  const wallStartMs = clock.nowMs();
  const monotonicStartMs = clock.monotonicMs();
  const worldStartMs = world.nowMs();
  const sync = () => {
    const passedMs = clock.monotonicMs() - monotonicStartMs;
    world.advance(worldStartMs + passedMs * timeFactor);
  };
  return {
    sync,
    wallMs: (worldMs) => wallStartMs + (worldMs - worldStartMs) / timeFactor,
    run(signal) {
      every(clock, TICK_MS, signal, sync);
    },
  };
}
