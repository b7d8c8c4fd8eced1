import type { Goal, Mission, Robot } from "../../northbound/web/api/robot.ts";
import { codeWord } from "./words.ts";

/** A goal for people. */
export function goalText(goal: Goal): string {
  if (goal.kind === "destination") return goal.destination_id;
  if (goal.kind === "none") return "no goal";
  return `x ${goal.x_meters?.toFixed(1) ?? "?"}, y ${goal.y_meters?.toFixed(1) ?? "?"}`;
}

export function hasEnded({ state }: Mission): boolean {
  return state === "STATE_CANCELED" || state === "STATE_SUCCEEDED" || state === "STATE_FAILED";
}

/** The goal of a robot's current mission, reached or not. */
export function currentGoalText({ missions }: Robot): string {
  if (missions?.state == null) return "mission not known";
  const { missions: queue, current_mission_index: current } = missions.state;
  const doubt = missions.quality === "good" ? "" : ` (${missions.quality})`;
  const mission = queue[current];
  if (mission === undefined) return `no mission${doubt}`;
  const goal = mission.goals[mission.current_goal_index];
  const named = goal === undefined ? "no goal" : goalText(goal);
  // The service shows a mission as the current one until another begins.
  if (hasEnded(mission)) return `last mission ${codeWord(mission.state, "STATE_")}: ${named}${doubt}`;
  return `→ ${named}${doubt}`;
}
