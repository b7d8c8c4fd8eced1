import { isValidSight } from "../../domain/station-sight.ts";
import type { StationCounters, VisibleStation } from "../../domain/station-visits.ts";
import type { StationPayload } from "./models/state.ts";

/**
 * The value of a station, for `stations/<station>`. Nothing in it is true unless it is known to be true now.
 */
export function stationPayload(
  station: string,
  { sight, counters }: VisibleStation,
  sessionId: string,
): string {
  const { here, next } = sight;
  const payload: StationPayload = {
    station,
    quality: sight.quality,
    session_id: sessionId,
    state: {
      valid: isValidSight(sight),
      robot_here: here?.robotId ?? null,
      robots_here: sight.count,
      arrived: here?.hasArrived ?? false,
      conveyors: sight.conveyors.map(({ index, isLoaded, isRolling }) => ({
        index,
        loaded: isLoaded,
        rolling: isRolling,
      })),
      conveyors_quality: sight.conveyorQuality,
      next_robot: next?.robotId ?? null,
      next_robot_goals_before: next?.goalsBefore ?? null,
      next_robot_quality: sight.nextQuality,
      counters: countersOf(counters),
    },
  };
  return JSON.stringify(payload);
}

function countersOf(counters: StationCounters) {
  return {
    since: new Date(counters.sinceMs).toISOString(),
    cycles: counters.cycles,
    aborted: counters.aborted,
    waiting_last_s: counters.waitingLastMs / 1_000,
    waiting_total_s: counters.waitingTotalMs / 1_000,
    cycle_last_s: counters.cycleLastMs / 1_000,
    cycle_total_s: counters.cycleTotalMs / 1_000,
  };
}
