import type { Mission, MissionStateName } from "../../src/domain/mission.ts";
import type { Stamp } from "../../src/domain/observed.ts";
import type { Conveyor, Presence } from "../../src/domain/robot.ts";
import type { FleetUpdate } from "../../src/domain/update.ts";

/** A robot's stamp that arrived at `receivedAtMs`. */
export function stamp(receivedAtMs = 0, sequence = 1): Stamp {
  return { sourceTimeMs: receivedAtMs - 5, sequence, receivedAtMs };
}

export function mission(missionId: string, state: Mission["state"]): Mission {
  return { missionId, state, goals: [], currentGoalIndex: 0, feedback: null, type: null, owner: "api" };
}

/** A mission message: each mission as `id:STATE`, the state without its STATE_. */
export function missionEvent(
  robotId: string,
  missions: readonly string[],
  stream = "missions",
  receivedAtMs = 0,
): FleetUpdate {
  const list = missions.map((text) => {
    const [id = "", state = ""] = text.split(":");
    return mission(id, `STATE_${state}` as MissionStateName);
  });
  const queue = { missions: list, currentMissionIndex: list.length - 1 };
  return { kind: "mission", robotId, stream, stamp: stamp(receivedAtMs), queue };
}

export function batteryEvent(robotId: string, chargePercent: number, stream = "batteries"): FleetUpdate {
  const battery = { chargePercent, state: "STATE_DISCHARGING", chargeMethod: "CHARGE_METHOD_NONE" } as const;
  return { kind: "battery", robotId, stream, stamp: stamp(0, chargePercent), battery };
}

export function conveyor(index: number, fields: Partial<Conveyor> = {}): Conveyor {
  return {
    index,
    operation: "OPERATION_STATE_STOP",
    payload: "PAYLOAD_STATE_EMPTY",
    health: "HEALTH_STATE_OK",
    installation: "INSTALLATION_STATE_INSTALLED",
    ...fields,
  };
}

export function conveyorsEvent(robotId: string, conveyors: readonly Conveyor[]): FleetUpdate {
  const stream = `conveyors/${robotId}`;
  return { kind: "conveyors", robotId, stream, stamp: stamp(), conveyors };
}

export function rosterEvent(robotIds: readonly string[], info: Presence["info"] = {}): FleetUpdate {
  const presence: Presence = { amrId: 1, mapId: 1, position: "P1", stateId: "idle", taskChainId: 0, info };
  return { kind: "roster", atMs: 0, robots: robotIds.map((robotId) => ({ robotId, presence })) };
}

export function chainEvent(chainId: number, finished = false): FleetUpdate {
  const chain = { chainId, amrId: 1, taskSeq: "", status: "S", finished, info: {} };
  return { kind: "task_chain", atMs: 0, chain };
}
