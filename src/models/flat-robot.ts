import { type Coded, codeText } from "../domain/coded.ts";
import { currentGoal, currentMission, type Goal, type MissionQueue } from "../domain/mission.ts";
import { type Battery, type Conveyor, coordinateOf, type Presence } from "../domain/robot.ts";

/**
 * A robot's values one by one, for clients that read no JSON. Null: there is no such value, as without a
 * mission.
 */

/** Its current mission. */
export interface FlatMission {
  readonly index: number;
  readonly count: number;
  readonly id: string | null;
  readonly state: string | number | null;
  readonly type: string | number | null;
  readonly feedback: string | number | null;
  readonly owner: string | null;
  readonly goalIndex: number | null;
  readonly goalCount: number | null;
  /** The destination of the current goal; null for a pose, too. */
  readonly destination: string | null;
  /** The current goal in words. */
  readonly goal: string | null;
  readonly hasArrived: boolean;
}

export function flatMission(queue: MissionQueue): FlatMission {
  const mission = currentMission(queue);
  const goal = mission === undefined ? undefined : currentGoal(mission);
  const type = mission?.type ?? null;
  const feedback = mission?.feedback ?? null;
  const status = feedback === null || feedback.family === "none" ? null : feedback.status;
  return {
    index: queue.currentMissionIndex,
    count: queue.missions.length,
    id: mission?.missionId ?? null,
    state: textOf(mission?.state ?? null),
    type: textOf(type === null || type.family === "none" ? null : type.type),
    feedback: textOf(status),
    owner: mission?.owner ?? null,
    goalIndex: mission?.currentGoalIndex ?? null,
    goalCount: mission?.goals.length ?? null,
    destination: goal?.kind === "destination" ? goal.destinationId : null,
    goal: mission === undefined ? null : goalText(goal),
    hasArrived: status === "STATUS_ARRIVED",
  };
}

/** A goal in words: the destination, or the pose in metres and radians. */
export function goalText(goal: Goal | undefined): string {
  if (goal === undefined || goal.kind === "none") return "";
  if (goal.kind === "destination") return goal.destinationId;
  const { xMeters, yMeters, headingRadians } = goal.pose;
  return `pose ${xMeters} ${yMeters} ${headingRadians}`;
}

export interface FlatBattery {
  readonly chargePercent: number;
  readonly state: string | number;
  readonly chargeMethod: string | number;
  readonly isCharging: boolean;
}

export function flatBattery({ chargePercent, state, chargeMethod }: Battery): FlatBattery {
  return {
    chargePercent,
    state: codeText(state),
    chargeMethod: codeText(chargeMethod),
    isCharging: state === "STATE_CHARGING",
  };
}

export interface FlatConveyor {
  readonly operation: string | number;
  readonly payload: string | number;
  readonly health: string | number;
  readonly installation: string | number;
  readonly isRolling: boolean;
  readonly isLoaded: boolean;
}

export function flatConveyor({ operation, payload, health, installation }: Conveyor): FlatConveyor {
  return {
    operation: codeText(operation),
    payload: codeText(payload),
    health: codeText(health),
    installation: codeText(installation),
    isRolling: operation === "OPERATION_STATE_ROLLING",
    isLoaded: payload === "PAYLOAD_STATE_LOADED",
  };
}

/** Where the robot was in the last online list. */
export interface FlatPlace {
  readonly x: number | null;
  readonly y: number | null;
  readonly heading: number | null;
  readonly amrId: number;
  readonly mapId: number;
  readonly pointCode: string;
  readonly stateId: string;
  readonly taskChainId: number;
}

export function flatPlace(presence: Presence): FlatPlace {
  return {
    x: coordinateOf(presence, "x"),
    y: coordinateOf(presence, "y"),
    heading: coordinateOf(presence, "theta"),
    amrId: presence.amrId,
    mapId: presence.mapId,
    pointCode: presence.position,
    stateId: presence.stateId,
    taskChainId: presence.taskChainId,
  };
}

function textOf(value: Coded<string> | null): string | number | null {
  return value === null ? null : codeText(value);
}
