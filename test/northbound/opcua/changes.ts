import type { StateChange } from "../../../src/domain/change.ts";
import type { Mission, MissionQueue } from "../../../src/domain/mission.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import type { Conveyor } from "../../../src/domain/robot.ts";

export const receivedAtMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const sourceTimeMs = receivedAtMs - 250;

export function mission(missionId: string, changed: Partial<Mission> = {}): Mission {
  return {
    missionId,
    state: "STATE_RUNNING",
    goals: [
      { kind: "destination", destinationId: "Dock A" },
      { kind: "destination", destinationId: "Dock B" },
    ],
    currentGoalIndex: 1,
    feedback: { family: "cart", status: "STATUS_NAVIGATING" },
    type: { family: "cart", type: "CART_TYPE_TRAVERSE" },
    owner: "api",
    ...changed,
  };
}

export function queueOf(...missions: readonly Mission[]): MissionQueue {
  return { missions, currentMissionIndex: missions.length - 1 };
}

export function missionChange(
  robotId: string,
  value: MissionQueue,
  quality: Quality = "good",
  atMs = receivedAtMs,
): StateChange {
  const stamp = { sourceTimeMs: atMs - 250, sequence: 42, receivedAtMs: atMs };
  return { kind: "mission", robotId, observed: { value, quality, stamp } };
}

export function robotChange(robotId: string, quality: Quality): StateChange {
  return { kind: "robot", robotId, family: "cart", quality };
}

export function conveyorChange(
  robotId: string,
  index: number,
  changed: Partial<Conveyor> = {},
  quality: Quality = "good",
): StateChange {
  const value: Conveyor = {
    index,
    operation: "OPERATION_STATE_STOP",
    payload: "PAYLOAD_STATE_LOADED",
    health: "HEALTH_STATE_OK",
    installation: "INSTALLATION_STATE_INSTALLED",
    ...changed,
  };
  const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs };
  return { kind: "conveyor", robotId, observed: { value, quality, stamp } };
}

export function batteryChange(
  robotId: string,
  chargePercent: number,
  quality: Quality = "good",
): StateChange {
  const stamp = { sourceTimeMs, sequence: 7, receivedAtMs };
  return {
    kind: "battery",
    robotId,
    observed: {
      value: { chargePercent, state: "STATE_CHARGING", chargeMethod: "CHARGE_METHOD_CONTACT" },
      quality,
      stamp,
    },
  };
}

export function presenceChange(
  robotId: string,
  quality: Quality,
  changed: { readonly stateId?: string; readonly taskChainId?: number } = {},
): StateChange {
  const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs };
  const place = { amrId: 11, mapId: 2, position: "P-07", info: {} };
  const value = { ...place, stateId: "3", taskChainId: 0, ...changed };
  return { kind: "presence", robotId, observed: { value, quality, stamp } };
}
