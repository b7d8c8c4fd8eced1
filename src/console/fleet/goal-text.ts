import type { GoalView, MissionView } from "../../models/robot.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import { codeWord } from "./words.ts";

/** A goal for people. */
export function goalText(goal: GoalView): string {
  if ("destination_id" in goal) return goal.destination_id;
  if (!("pose" in goal)) return "no goal";
  const { x_meters: x, y_meters: y } = goal.pose;
  return `x ${metersText(x)}, y ${metersText(y)}`;
}

/** JSON has a text for a number that is not finite. */
function metersText(meters: number | string): string {
  return typeof meters === "number" ? meters.toFixed(1) : "?";
}

export function hasEnded({ state }: MissionView): boolean {
  return state === "STATE_CANCELED" || state === "STATE_SUCCEEDED" || state === "STATE_FAILED";
}

/** The goal of a robot's current mission, reached or not. */
export function currentGoalText({ mission }: Robot): string {
  if (mission?.state == null) return "mission not known";
  const { current_mission: current, current_goal: goal } = mission.state;
  const doubt = mission.quality === "good" ? "" : ` (${mission.quality})`;
  if (current === null) return `no mission${doubt}`;
  const named = goal === null ? "no goal" : goalText(goal);
  // The service shows a mission as the current one until another begins.
  if (hasEnded(current)) return `last mission ${codeWord(current.state, "STATE_")}: ${named}${doubt}`;
  return `→ ${named}${doubt}`;
}
