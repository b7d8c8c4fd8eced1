import { type Coded, codeText, sameCode } from "../domain/coded.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Mission, MissionQueue, MissionStateName } from "../domain/mission.ts";
import type { Stamp } from "../domain/observed.ts";
import type { Battery, Conveyor, RobotId } from "../domain/robot.ts";
import { contentId } from "../platform/json.ts";

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
    const from = earlierMission(before, missionId, index)?.state ?? published?.get(missionId) ?? null;
    if (from !== null && sameCode(from, to)) continue;
    const eventId = eventIds.of(
      "mission",
      robotId,
      stamp,
      missionId,
      missionStateText(from),
      missionStateText(to),
    );
    const what = { robotId, atMs, missionId, from, to, owner, command: null };
    events.push({ kind: "mission", eventId, ...what, ...(published === null ? {} : { jump: true }) });
  }
}

function missionStateText(state: Coded<MissionStateName> | null): string {
  return state === null ? "" : String(codeText(state));
}

/** The same mission in the earlier queue; nearly always at the same index. */
function earlierMission(before: MissionQueue | null, missionId: string, place: number): Mission | undefined {
  if (before === null) return undefined;
  const there = before.missions[place];
  if (there?.missionId === missionId) return there;
  return before.missions.find((mission) => mission.missionId === missionId);
}

/** A message with a cart's conveyors. */
export interface NewConveyors {
  readonly robotId: RobotId;
  /** Null for the first message of this run. */
  readonly before: readonly Conveyor[] | null;
  /** For the first message: the last published state of an earlier run; null: none. */
  readonly published: readonly Conveyor[] | null;
  readonly after: readonly Conveyor[];
  readonly stamp: Stamp;
}

/**
 * The events between two messages of a cart's conveyors: one for each new or changed conveyor. A change while
 * the gateway was down is one jump.
 */
export function conveyorEvents(
  eventIds: EventIds,
  { robotId, before, published, after, stamp }: NewConveyors,
  events: FleetEvent[],
): void {
  const atMs = stamp.receivedAtMs;
  for (let index = 0; index < after.length; index += 1) {
    const to = after[index];
    if (to === undefined) continue;
    const from = earlierConveyor(before, to.index, index) ?? earlierConveyor(published, to.index, index);
    if (from !== null && sameConveyor(from, to)) continue;
    const eventId = eventIds.of("conveyor", robotId, stamp, conveyorText(from), conveyorText(to));
    const jump = published === null ? {} : ({ jump: true } as const);
    events.push({ kind: "conveyor", eventId, robotId, atMs, from, to, ...jump });
  }
}

function conveyorText(conveyor: Conveyor | null): string {
  return conveyor === null ? "" : JSON.stringify(conveyor);
}

function earlierConveyor(before: readonly Conveyor[] | null, index: number, place: number): Conveyor | null {
  if (before === null) return null;
  const there = before[place];
  if (there?.index === index) return there;
  return before.find((conveyor) => conveyor.index === index) ?? null;
}

function sameConveyor(a: Conveyor, b: Conveyor): boolean {
  return (
    sameCode(a.operation, b.operation) &&
    sameCode(a.payload, b.payload) &&
    sameCode(a.health, b.health) &&
    sameCode(a.installation, b.installation)
  );
}

/** A message with a robot's battery. */
export interface NewBattery {
  readonly robotId: RobotId;
  readonly battery: Battery;
  readonly stamp: Stamp;
}

/**
 * The event between two messages of a robot's battery: it is in another state.
 *
 * @param before null for the first message of this run
 */
export function batteryEvents(
  eventIds: EventIds,
  { robotId, battery, stamp }: NewBattery,
  before: Battery | null,
  events: FleetEvent[],
): void {
  if (before === null || sameCode(before.state, battery.state)) return;
  const { state: from } = before;
  const { state: to, chargePercent } = battery;
  const eventId = eventIds.of("battery", robotId, stamp, String(codeText(from)), String(codeText(to)));
  events.push({ kind: "battery", eventId, robotId, atMs: stamp.receivedAtMs, from, to, chargePercent });
}

/** Makes ids of events: unique over all sessions of this gateway. */
export interface EventIds {
  /**
   * The id of an event that a robot's message shows. It is a hash of the event if the message has the robot's
   * time.
   */
  of(kind: string, robotId: RobotId, stamp: Stamp, ...what: readonly string[]): string;
}

/** @param sessionId names this run of the gateway: an event without a hash gets a number within the run */
export function createEventIds(sessionId: string): EventIds {
  let count = 0;
  return {
    of(kind, robotId, { sourceTimeMs, sequence }, ...what) {
      if (sourceTimeMs !== null) return contentId(kind, robotId, sourceTimeMs, sequence, ...what);
      count += 1;
      return `${sessionId}-${count}`;
    },
  };
}
