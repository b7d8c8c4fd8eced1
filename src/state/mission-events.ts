import { sameCode } from "../domain/coded.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Mission, MissionQueue } from "../domain/mission.ts";
import type { RobotId } from "../domain/robot.ts";
import type { AlarmCode, EventContext } from "./event-context.ts";

const FAILED: AlarmCode = "MISSION_FAILED";

/**
 * The events between two queues of a robot: one for each mission that is new or in another state, an alarm
 * for each that failed, and the end of the alarm when no failed mission is left. A mission that vanishes
 * causes no event.
 */
export function missionEvents(
  context: EventContext,
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
      eventId: context.nextEventId(),
      robotId,
      atMs,
      missionId: mission.missionId,
      from: known?.state ?? null,
      to: mission.state,
      owner: mission.owner,
      command: null,
    });
    if (mission.state === "STATE_FAILED") {
      events.push(context.alarm(robotId, atMs, FAILED, true, `mission ${mission.missionId} failed`));
    }
  }
  if (before !== null && holdsFailure(before) && !holdsFailure(after)) {
    events.push(context.alarm(robotId, atMs, FAILED, false, "no failed mission is left in the queue"));
  }
}

/** The same mission in the queue before; nearly always in the same place. */
function earlierSelf(before: MissionQueue | null, missionId: string, place: number): Mission | undefined {
  if (before === null) return undefined;
  const there = before.missions[place];
  if (there?.missionId === missionId) return there;
  return before.missions.find((mission) => mission.missionId === missionId);
}

function holdsFailure(queue: MissionQueue): boolean {
  for (const mission of queue.missions) if (mission.state === "STATE_FAILED") return true;
  return false;
}
