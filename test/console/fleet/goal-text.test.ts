import { expect, it } from "vitest";
import { currentGoalText, missionStateText } from "../../../src/console/fleet/words.ts";
import type { GoalView, MissionView } from "../../../src/models/robot.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";

const stationA: GoalView = { destination_id: "Station A" };

function withMission(
  state: MissionView["state"],
  quality: Robot["quality"] = "good",
  goal = stationA,
): Robot {
  return standingRobot("cart-01", { mission: oneMission({ state, goals: [goal] }, quality) });
}

function withoutMission(quality: Robot["quality"]): Robot {
  const state = {
    metadata: null,
    missions: [],
    current_mission_index: -1,
    current_mission: null,
    current_goal: null,
  };
  return standingRobot("cart-01", { mission: { ...oneMission({}, quality), state } });
}

it.each<[string, Robot, string]>([
  ["a mission that runs", withMission("STATE_RUNNING"), "→ Station A"],
  ["values that are stale", withMission("STATE_RUNNING", "stale"), "→ Station A (stale)"],
  ["a mission that is paused", withMission("STATE_PAUSED"), "→ Station A"],
  ["a state without a name", withMission(9), "→ Station A"],
  ["a mission that has ended", withMission("STATE_SUCCEEDED"), "last mission succeeded: Station A"],
  ["a mission that failed", withMission("STATE_FAILED", "stale"), "last mission failed: Station A (stale)"],
  ["no mission", withoutMission("good"), "no mission"],
  ["no mission, as far as is known", withoutMission("offline"), "no mission (offline)"],
  ["no mission that was ever heard of", standingRobot("cart-01"), "mission not known"],
  [
    "a pose",
    withMission("STATE_RUNNING", "good", {
      pose: { x_meters: 1.25, y_meters: "NaN", heading_radians: 0 },
    }),
    "→ x 1.3, y ?",
  ],
])("says where a robot heads for: %s", (_what, robot, text) => {
  expect(currentGoalText(robot)).toBe(text);
});

it.each<[string, MissionView["state"], "STATUS_NAVIGATING" | "STATUS_ARRIVED"]>([
  ["running, navigating", "STATE_RUNNING", "STATUS_NAVIGATING"],
  ["paused", "STATE_PAUSED", "STATUS_NAVIGATING"],
  ["failed", "STATE_FAILED", "STATUS_NAVIGATING"],
  ["succeeded, arrived", "STATE_SUCCEEDED", "STATUS_ARRIVED"],
])("a mission is %s: a robot that does not drive is not said to", (text, state, status) => {
  const mission = oneMission({ state, mission_feedback: { base_feedback: { status } } });
  expect(mission.state?.missions.map(missionStateText)).toEqual([text]);
});
