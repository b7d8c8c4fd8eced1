import type { Clock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createFleetState, type FleetState } from "../../src/state/fleet-state.ts";

type StateParts = Parameters<typeof createFleetState>[0];

/** A small gateway's fleet state, of which a test says what is special to it. */
export function newFleetState(clock: Clock, changes: Partial<StateParts> = {}): FleetState {
  return createFleetState({
    times: { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 300_000 },
    maxRobots: 10,
    maxTaskChains: 10,
    sessionId: "s1",
    clock,
    log: silentLog,
    ...changes,
  });
}
