import { expect, test } from "vitest";
import { createRobotPool } from "../contract/contract-harness.ts";
import { cartWorkflow } from "../contract/requests.ts";
import { openCommandBench } from "./command-bench.ts";

test.each(["grpc", "rest"] as const)(
  "every mission that a workflow has made over %s is known as ours, and none as a stranger's",
  async (transport) => {
    const robot = createRobotPool()("cart");
    const bench = await openCommandBench({ robots: [robot.id], transport });
    try {
      const { rig, state } = bench;
      await rig.until("the robot is good", () => state.robot(robot.id)?.quality === "good");
      await rig.event("mission");
      const request = cartWorkflow(robot.id, "traverse", [robot.stations[0]]);
      const outcome = await bench.submit("CreateMissionWorkflow", request, 5_000);
      const { mission_ids: missionIds } = JSON.parse(outcome.responseJson ?? "{}") as {
        mission_ids: string[];
      };
      expect(missionIds.length).toBeGreaterThan(1);
      expect(outcome.missionId).toBe(missionIds[0]);
      for (const missionId of missionIds) {
        expect(bench.makerOf(missionId)).toMatch(/^cli:test\/CreateMissionWorkflow/);
      }
    } finally {
      await bench.close();
    }
  },
);
