import { expect, test } from "vitest";
import { sourceTimeOf } from "../../../src/domain/observed.ts";
import { defaultScenario } from "../../../src/simulator/scenario/scenario.ts";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { startSimulator } from "../../support/simulator.ts";

const YEAR_MS = 365 * 86_400_000;
const aheadMs = new Map([
  ["cart-01", YEAR_MS],
  ["serve-01", -56 * YEAR_MS],
  ["base-01", -YEAR_MS],
]);

test("robots with wrong clocks are told with the time of receipt, and keep their order", async () => {
  const plant = defaultScenario();
  const robots = plant.world.robots.map((robot) => ({ ...robot, clockAheadMs: aheadMs.get(robot.id) ?? 0 }));
  const scenario = { ...plant, world: { ...plant.world, robots } };
  const simulator = await startSimulator({ scenario: { kind: "given", scenario }, lively: "none" });
  const session = await startFleetSession(simulator.endpoints);
  for (const robotId of [...aheadMs.keys(), "cart-02"]) {
    const first = await session.event("battery", (event) => event.robotId === robotId);
    expect(first.isSnapshot).toBe(true);
    for (let percent = 20, updates = 0; updates < 2; percent += 1) {
      simulator.control.happen({ kind: "battery", robotId, percent });
      const { stamp, isSnapshot } = await session.event(
        "battery",
        (event) => event.robotId === robotId && event.battery.chargePercent === percent,
      );
      // On a busy machine a call may be lost, and the next one begins with a snapshot.
      if (isSnapshot) continue;
      updates += 1;
      const shownMs = sourceTimeOf(stamp) ?? 0;
      expect(Math.abs(shownMs - stamp.receivedAtMs)).toBeLessThan(60_000);
      expect(stamp.isClockWrong).toBe(aheadMs.has(robotId) ? true : undefined);
    }
  }
  expect(session.figure("robot_clocks_wrong")).toBe(3);
  await session.stop();
  await simulator.stop();
});
