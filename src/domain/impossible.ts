import type { Battery } from "./battery.ts";
import type { Coded } from "./coded.ts";
import type { Conveyor } from "./conveyor.ts";
import type { MissionQueue } from "./mission.ts";

/**
 * The part of a value that cannot be true by the service's own interface; null: nothing. The value is passed
 * on as it was sent, and is not good: neither is the value before it.
 */
export function impossibleBattery({ chargePercent, state }: Battery): string | null {
  if (chargePercent < 0 || chargePercent > 100) return `battery_state.charge_percent is ${chargePercent}`;
  return unnamed("battery_state.state", state);
}

export function impossibleQueue({ missions, currentMissionIndex: index }: MissionQueue): string | null {
  // An index that is not set is 0, also if there is no mission.
  if (index < -1 || index >= Math.max(1, missions.length)) {
    return `current_mission_index is ${index} of ${missions.length} missions`;
  }
  for (const { state, goals, currentGoalIndex } of missions) {
    const wrong = unnamed("a mission's state", state);
    if (wrong !== null) return wrong;
    // After the last goal: all goals are done.
    if (currentGoalIndex < -1 || currentGoalIndex > goals.length) {
      return `current_goal_index is ${currentGoalIndex} of ${goals.length} goals`;
    }
  }
  return null;
}

export function impossibleConveyors(conveyors: readonly Conveyor[]): string | null {
  for (const { index, operation, payload, health, installation } of conveyors) {
    for (const state of [operation, payload, health, installation]) {
      const wrong = unnamed(`a state of conveyor ${index}`, state);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

function unnamed(what: string, code: Coded<string>): string | null {
  return typeof code === "string" ? null : `${what} is ${code.raw}, which has no name`;
}
