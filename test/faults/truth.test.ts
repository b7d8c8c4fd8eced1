import { afterEach, expect, test } from "vitest";
import type { RobotState } from "../../src/simulator/control.ts";
import { type FaultsHarness, openFaultsHarness } from "./faults-harness.ts";
import { isSame, truthOf } from "./truth.ts";

let harness: FaultsHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const everything = { isFor: () => true, presence: true };

type Edit = (robot: RobotState) => Partial<RobotState>;

const mission =
  (change: Partial<RobotState["missions"][number]>): Edit =>
  ({ missions: [first, ...others] }) => ({
    missions: first === undefined ? [] : [{ ...first, ...change }, ...others],
  });
const conveyor =
  (change: Partial<RobotState["conveyors"][number]>): Edit =>
  ({ conveyors: [first, ...others] }) => ({
    conveyors: first === undefined ? [] : [{ ...first, ...change }, ...others],
  });

const changes: ReadonlyArray<readonly [string, Edit]> = [
  ["a mission's state", mission({ status: "failed" })],
  ["a mission's goal", mission({ goalIndex: 7 })],
  ["a mission's owner", mission({ owner: "touchscreen" })],
  ["a mission's kind", mission({ kind: "cart.traverse" })],
  ["the current mission", () => ({ currentIndex: 3 })],
  ["a percent of the battery", ({ battery }) => ({ battery: { ...battery, percent: 1 } })],
  ["the charging method", ({ battery }) => ({ battery: { ...battery, method: "wired" } })],
  ["a conveyor's load", conveyor({ loaded: true })],
  ["a conveyor's motor", conveyor({ motor: "cw" })],
  ["a conveyor's health", conveyor({ healthy: false })],
  ["a conveyor that is not there", conveyor({ installed: false })],
  ["a conveyor's index", conveyor({ index: 9 })],
  ["a conveyor more", ({ conveyors }) => ({ conveyors: conveyors.slice(1) })],
  ["the place", ({ place }) => ({ place: { ...place, x: place.x + 0.01 } })],
  ["the chain", () => ({ chainId: 5 })],
  ["an obstacle", () => ({ halts: ["blocked"] })],
  ["absence", () => ({ online: false })],
];

test("what a session shows is held against the world in every respect", async () => {
  harness = await openFaultsHarness();
  const { start, settled, simulator } = harness;
  const fleet = await start();
  const goal = { destinationId: "Station A" };
  const request = { robotId: "cart-03", mission: { cartMission: { navigateMission: { goal } } } };
  const ending = await fleet.port.call("CreateMission", JSON.stringify(request), 5_000);
  expect(ending).toMatchObject({ kind: "ok" });
  await settled(fleet);
  const robots = simulator().control.robots();
  const truth = truthOf(robots, everything);
  expect(isSame(truth, truthOf(structuredClone(robots), everything))).toBe(true);
  for (const [what, change] of changes) {
    const others = robots.map((robot) =>
      robot.robotId === "cart-03" ? { ...robot, ...change(robot) } : robot,
    );
    expect(isSame(truth, truthOf(others, everything)), what).toBe(false);
  }
});

test("a session that missed something is found out", async () => {
  harness = await openFaultsHarness();
  const { start, good, settled, simulator, wire } = harness;
  const fleet = await start();
  expect(good(fleet)).toHaveLength(6);
  // Nothing comes any more, and the session believes for a while what it has.
  wire.stall();
  simulator().control.happen({ kind: "conveyor-health", robotId: "cart-02", index: 1, ok: false });
  expect(good(fleet)).toEqual(["cart-01", "cart-03", "serve-01", "serve-02", "base-01"]);
  const lost = fleet.next("stream", ({ state }) => state === "lost").then(() => "never before the loss");
  await expect(Promise.race([settled(fleet), lost])).resolves.toBe("never before the loss");
});
