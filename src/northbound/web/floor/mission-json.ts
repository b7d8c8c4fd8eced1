import { codeText } from "../../../domain/coded.ts";
import type { Goal } from "../../../domain/goal.ts";
import type { Mission, MissionQueue } from "../../../domain/mission.ts";
import { shortestFloat } from "../../../platform/float.ts";
import type { Goal as GoalJson, Mission as MissionJson, MissionQueue as QueueJson } from "../api/robot.ts";

export function queueJson({ missions, currentMissionIndex }: MissionQueue): QueueJson {
  return { missions: missions.map(missionJson), current_mission_index: currentMissionIndex };
}

function missionJson(mission: Mission): MissionJson {
  const { missionId, state, goals, currentGoalIndex, feedback, type, owner } = mission;
  const hasType = type !== null && type.family !== "none";
  const hasFeedback = feedback !== null && feedback.family !== "none";
  return {
    mission_id: missionId,
    state: codeText(state) as MissionJson["state"],
    family: hasType ? type.family : hasFeedback ? feedback.family : null,
    type: hasType ? (codeText(type.type) as MissionJson["type"]) : null,
    feedback: hasFeedback ? (codeText(feedback.status) as MissionJson["feedback"]) : null,
    goals: goals.map(goalJson),
    current_goal_index: currentGoalIndex,
    owner,
  };
}

function goalJson(goal: Goal): GoalJson {
  switch (goal.kind) {
    case "destination":
      return { kind: "destination", destination_id: goal.destinationId };
    case "pose": {
      const { xMeters, yMeters, headingRadians } = goal.pose;
      return {
        kind: "pose",
        x_meters: finite(xMeters),
        y_meters: finite(yMeters),
        heading_radians: finite(headingRadians),
      };
    }
    case "none":
      return { kind: "none" };
  }
}

/** The number, or null: JSON has neither NaN nor infinity. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? shortestFloat(value) : null;
}
