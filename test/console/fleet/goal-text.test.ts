import { expect, it } from "vitest";
import { currentGoalText } from "../../../src/console/fleet/goal-text.ts";
import type { Goal, Mission, Robot } from "../../../src/northbound/web/api/robot.ts";
import { standingRobot } from "../standing-robot.ts";

const stationA: Goal = { kind: "destination", destination_id: "Station A" };

function withMission(state: Mission["state"], quality: Robot["quality"] = "good", goal = stationA): Robot {
  return standingRobot("cart-01", {
    missions: {
      quality,
      received_at: "2026-01-02T03:04:05.000Z",
      age_ms: 0,
      source_time: null,
      state: {
        current_mission_index: 0,
        missions: [
          {
            mission_id: "m1",
            state,
            family: "cart",
            type: null,
            feedback: null,
            goals: [goal],
            current_goal_index: 0,
            owner: "api",
          },
        ],
      },
    },
  });
}

function withoutMission(quality: Robot["quality"]): Robot {
  const { missions } = withMission("STATE_RUNNING", quality);
  const state = { current_mission_index: -1, missions: [] };
  return standingRobot("cart-01", { missions: missions === null ? null : { ...missions, state } });
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
      kind: "pose",
      x_meters: 1.25,
      y_meters: null,
      heading_radians: 0,
    }),
    "→ x 1.3, y ?",
  ],
])("says where a robot heads for: %s", (_what, robot, text) => {
  expect(currentGoalText(robot)).toBe(text);
});
