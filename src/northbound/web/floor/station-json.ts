import type { Permits, Stations } from "../../../contracts/stations.ts";
import { holderName } from "../../../domain/hold.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { timeText } from "../../../models/json-text.ts";
import { stationOf } from "../../../models/station.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Station } from "../api/floor.ts";
import type { StationFacts } from "./floor.ts";

/** Makes the JSON of a station. `robots`: the robots that it may lease. */
export type StationWriter = (name: string, facts: StationFacts, robots: Iterable<RobotId>) => Station;

export function createStationWriter(
  permits: Pick<Permits, "permitOf">,
  stations: Pick<Stations, "leaseOf">,
  clock: Pick<Clock, "nowMs">,
): StationWriter {
  return (name, { shown, alarms }, robots) => {
    const permit = permits.permitOf(name);
    const leases = [...robots].flatMap((robotId) => {
      const lease = stations.leaseOf(robotId);
      if (lease?.station !== name) return [];
      const { owner, sinceMs } = lease;
      const for_ms = Math.max(0, Math.round(clock.nowMs() - sinceMs));
      return [{ robot_id: robotId, owner: holderName(owner), since: timeText(sinceMs), for_ms }];
    });
    return {
      ...stationOf(name, shown),
      permit: { required: permit.isRequired, given: permit.isGiven, reason: permit.reason },
      leases,
      alarms,
    };
  };
}
