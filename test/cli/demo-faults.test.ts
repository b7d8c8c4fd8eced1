import { afterEach, beforeEach, expect, test } from "vitest";
import { createDemoFaults } from "../../src/cli/demo-faults.ts";
import type { SimulatedFault, SimulatedFaults } from "../../src/contracts/simulated-faults.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";

let clock: ManualClock;
let simulator: RunningSimulator;
let faults: SimulatedFaults;

beforeEach(async () => {
  clock = createManualClock(Date.now());
  simulator = await startSimulator({ clock });
  faults = createDemoFaults(simulator.control, clock);
});
afterEach(() => simulator.stop());

const robotNow = (robotId: string) =>
  simulator.control.robots().find((robot) => robot.robotId === robotId) ?? expect.unreachable(robotId);

test.each<SimulatedFault>([
  { name: "cut", robotId: null },
  { name: "silence", robotId: null },
  { name: "block", robotId: "cart-01" },
  { name: "lost_answer", robotId: "cart-01" },
  { name: "flat_battery", robotId: "cart-01" },
])("$name begins, shows for how long, and ends", (fault) => {
  expect(faults.active()).toEqual([]);
  expect(faults.begin(fault)).toBeNull();
  clock.advance(1_000);
  // The same again goes on.
  expect(faults.begin(fault)).toBeNull();
  clock.advance(2_000);
  expect(faults.active()).toEqual([{ fault, forMs: 3_000 }]);
  expect(faults.end(fault)).toBeNull();
  expect(faults.active()).toEqual([]);
  expect(faults.end(fault)).toBeNull();
  expect(simulator.control.faults()).toEqual([]);
});

test("each does to the simulated world what it says", () => {
  faults.begin({ name: "silence", robotId: null });
  faults.begin({ name: "cut", robotId: null });
  expect(simulator.control.faults()).toEqual([{ kind: "silence" }, { kind: "cut" }]);
  const { percent } = robotNow("cart-02").battery;
  faults.begin({ name: "flat_battery", robotId: "cart-02" });
  expect(robotNow("cart-02")).toMatchObject({ flat: true, battery: { percent: 0 } });
  faults.end({ name: "flat_battery", robotId: "cart-02" });
  expect(robotNow("cart-02")).toMatchObject({ flat: false, battery: { percent } });
  faults.begin({ name: "block", robotId: "cart-02" });
  expect(robotNow("cart-02").halts).toContain("blocked");
  expect(robotNow("cart-01").halts).not.toContain("blocked");
});

test("a lost answer is that of the next command, not of a poll, and is over then", async () => {
  const fault = { name: "lost_answer", robotId: "cart-01" } as const;
  faults.begin(fault);
  expect((await simulator.rest("GET", "/amr/onlineAmr")).status).toBe(200);
  expect(faults.active()).toEqual([{ fault, forMs: 0 }]);
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
  const answer = simulator.rest("POST", "/v1/mission/create", { robotId: "cart-01", mission });
  await expect.poll(() => robotNow("cart-01").missions).toHaveLength(1);
  expect(faults.active()).toEqual([]);
  clock.advance(60_000);
  expect((await answer).json()).toMatchObject({ code: "DEADLINE_EXCEEDED" });
});

test("faults that began elsewhere are shown, and end here", () => {
  simulator.control.happen({ kind: "battery", robotId: "cart-01", percent: 0 });
  simulator.control.apply({ kind: "silence" });
  const flat = { name: "flat_battery", robotId: "cart-01" } as const;
  expect(faults.active()).toEqual([
    { fault: { name: "silence", robotId: null }, forMs: null },
    { fault: flat, forMs: null },
  ]);
  faults.end(flat);
  expect(robotNow("cart-01").flat).toBe(false);
});

test("a fault that ended elsewhere is not older when it begins again", () => {
  const block = { name: "block", robotId: "cart-01" } as const;
  faults.begin(block);
  clock.advance(5_000);
  simulator.control.happen({ kind: "unblocked", robotId: "cart-01" });
  expect(faults.active()).toEqual([]);
  simulator.control.happen({ kind: "blocked", robotId: "cart-01" });
  expect(faults.active()).toEqual([{ fault: block, forMs: null }]);
});

test("a robot that is not there is named", () => {
  const nobody = { name: "block", robotId: "nobody" } as const;
  expect(faults.begin(nobody)).toBe("the simulated service has no robot nobody");
  expect(faults.end(nobody)).toBe("the simulated service has no robot nobody");
});
