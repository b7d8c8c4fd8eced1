import { type Coded, codeText, sameCode } from "../domain/coded.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Mission, MissionQueue, MissionStateName } from "../domain/mission.ts";
import type { Stamp } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";
import type { EventIds } from "./event-ids.ts";

/** A message with a robot's queue. */
export interface NewQueue {
  readonly robotId: RobotId;
  readonly queue: MissionQueue;
  readonly stamp: Stamp;
}

/** What was known of the robot's queue before. */
export interface EarlierQueue {
  /** Null for the first message of this run. */
  readonly before: MissionQueue | null;
  /** For the first message: the last published states of an earlier run; null: none. */
  readonly published: ReadonlyMap<string, Coded<MissionStateName>> | null;
}

/**
 * The events between two queues of a robot: one for each mission that is new or in another state. A mission
 * that vanishes causes no event. A change while the gateway was down is one jump.
 */
export function missionEvents(
  eventIds: EventIds,
  { robotId, queue: after, stamp }: NewQueue,
  { before, published }: EarlierQueue,
  events: FleetEvent[],
): void {
  const atMs = stamp.receivedAtMs;
  for (let index = 0; index < after.missions.length; index += 1) {
    const mission = after.missions[index];
    if (mission === undefined) continue;
    const { missionId, state: to, owner } = mission;
    const from = earlierSelf(before, missionId, index)?.state ?? published?.get(missionId) ?? null;
    if (from !== null && sameCode(from, to)) continue;
    const eventId = eventIds.of("mission", robotId, stamp, missionId, textOf(from), textOf(to));
    const what = { robotId, atMs, missionId, from, to, owner, command: null };
    events.push({ kind: "mission", eventId, ...what, ...(published === null ? {} : { jump: true }) });
  }
}

function textOf(state: Coded<MissionStateName> | null): string {
  return state === null ? "" : String(codeText(state));
}

/** The same mission in the earlier queue; nearly always at the same index. */
function earlierSelf(before: MissionQueue | null, missionId: string, place: number): Mission | undefined {
  if (before === null) return undefined;
  const there = before.missions[place];
  if (there?.missionId === missionId) return there;
  return before.missions.find((mission) => mission.missionId === missionId);
}
