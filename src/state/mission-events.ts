import { sameCode } from "../domain/coded.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Mission, MissionQueue } from "../domain/mission.ts";
import type { RobotId } from "../domain/robot.ts";
import type { NextEventId } from "./event-ids.ts";

/**
 * The events between two queues of a robot: one for each mission that is new or in another state. A mission
 * that vanishes causes no event.
 */
export function missionEvents(
  nextEventId: NextEventId,
  robotId: RobotId,
  before: MissionQueue | null,
  after: MissionQueue,
  atMs: number,
  events: FleetEvent[],
): void {
  for (let place = 0; place < after.missions.length; place += 1) {
    const mission = after.missions[place];
    if (mission === undefined) continue;
    const known = earlierSelf(before, mission.missionId, place);
    if (known !== undefined && sameCode(known.state, mission.state)) continue;
    events.push({
      kind: "mission",
      eventId: nextEventId(),
      robotId,
      atMs,
      missionId: mission.missionId,
      from: known?.state ?? null,
      to: mission.state,
      owner: mission.owner,
      command: null,
    });
  }
}

/** The same mission in the queue before; nearly always in the same place. */
function earlierSelf(before: MissionQueue | null, missionId: string, place: number): Mission | undefined {
  if (before === null) return undefined;
  const there = before.missions[place];
  if (there?.missionId === missionId) return there;
  return before.missions.find((mission) => mission.missionId === missionId);
}
