import type { Permits } from "../../../contracts/permits.ts";
import type { Stations } from "../../../contracts/stations.ts";
import { holderName } from "../../../domain/hold.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { isValidSight } from "../../../domain/station-sight.ts";
import type { StationCounters } from "../../../domain/station-visits.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Station } from "../api/floor.ts";
import type { StationFacts } from "./floor.ts";
import { timeText } from "./time-text.ts";

export interface StationJsonParts {
  readonly permits: Pick<Permits, "permitOf">;
  readonly stations: Pick<Stations, "leaseOf">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** The JSON of a station. `robots`: the robots that it may lease. */
export function stationJson(
  { permits, stations, clock }: StationJsonParts,
  name: string,
  { shown: { sight, counters }, alarms }: StationFacts,
  robots: Iterable<RobotId>,
): Station {
  const { here, next } = sight;
  const permit = permits.permitOf(name);
  const leases = [...robots].flatMap((robotId) => {
    const lease = stations.leaseOf(robotId);
    if (lease?.station !== name) return [];
    const { owner, sinceMs } = lease;
    const for_ms = Math.max(0, Math.round(clock.nowMs() - sinceMs));
    return [{ robot_id: robotId, owner: holderName(owner), since: timeText(sinceMs), for_ms }];
  });
  return {
    station: name,
    quality: sight.quality,
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
    permit: { required: permit.isRequired, given: permit.isGiven, reason: permit.reason },
    leases,
    alarms,
    counters: countersJson(counters),
  };
}

function countersJson(counters: StationCounters): Station["counters"] {
  return {
    since: timeText(counters.sinceMs),
    cycles: counters.cycles,
    aborted: counters.aborted,
    waiting_last_s: counters.waitingLastMs / 1_000,
    waiting_total_s: counters.waitingTotalMs / 1_000,
    cycle_last_s: counters.cycleLastMs / 1_000,
    cycle_total_s: counters.cycleTotalMs / 1_000,
  };
}
