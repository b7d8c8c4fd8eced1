import { expect, test } from "vitest";
import { createRobotPool } from "../contract/contract-harness.ts";
import { cartWorkflow } from "../contract/requests.ts";
import { openDaemonHarness } from "./daemon-harness.ts";

test.each(["grpc", "rest"] as const)(
  "every mission that a workflow has made over %s is known as ours, and none as another client's",
  async (transport) => {
    const robot = createRobotPool()("cart");
    const harness = await openDaemonHarness({ robots: [robot.id], transport });
    try {
      const { fleet, state } = harness;
      await fleet.until("the robot is good", () => state.robot(robot.id)?.quality === "good");
      await fleet.event("mission");
      const request = cartWorkflow(robot.id, "traverse", [robot.stations[0]]);
      const outcome = await harness.submit("CreateMissionWorkflow", request, 5_000);
      const { mission_ids: missionIds } = JSON.parse(outcome.responseJson ?? "{}") as {
        mission_ids: string[];
      };
      expect(missionIds.length).toBeGreaterThan(1);
      expect(outcome.missionId).toBe(missionIds[0]);
      for (const missionId of missionIds) {
        expect(harness.makerOf(missionId)).toMatch(/^cli:test\/CreateMissionWorkflow/);
      }
    } finally {
      await harness.close();
    }
  },
);
