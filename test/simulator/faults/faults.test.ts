import { expect, test } from "vitest";
import { createStreamFaults } from "../../../src/simulator/faults/registry.ts";
import { defaultScenario, parseScenario } from "../../../src/simulator/scenario/scenario.ts";
import { type Fault, faultSchema } from "../../../src/simulator/scenario/schema.ts";
import type { StreamMessage } from "../../../src/simulator/service/contract.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startSimulator } from "../../support/simulator.ts";

const message = (robotId: string, text: string): StreamMessage => ({
  robotId,
  message: text,
  bytes: () => Buffer.from(text),
});

function subscriber() {
  const faults = createStreamFaults();
  const seen: unknown[] = [];
  const deliver = faults.shape("SubscribeMissionStatus", (each) => seen.push(each.message));
  return { faults, seen, deliver };
}

test("a reordered message waits for the next one of its own robot, not of another", () => {
  const { faults, seen, deliver } = subscriber();
  faults.add({ kind: "stream", effect: "reorder", robotId: "a", count: 1 });
  for (const each of [message("a", "a1"), message("b", "b1"), message("a", "a2"), message("a", "a3")])
    deliver(each);
  expect(seen).toEqual(["b1", "a2", "a1", "a3"]);
});

test("a fault strikes only the stream and the robot that it names, as often as it says", () => {
  const { faults, seen, deliver } = subscriber();
  faults.add({ kind: "stream", effect: "drop", stream: "SubscribeBatteryStatus", count: 9 });
  faults.add({ kind: "stream", effect: "drop", robotId: "a", count: 2 });
  for (const each of ["a1", "b1", "a2", "a3"]) deliver(message(each.charAt(0), each));
  expect(seen).toEqual(["b1", "a3"]);
  expect(faults.list()).toHaveLength(1);
});

test.each([
  [{ kind: "command", effect: "delay-taken" }, true],
  [{ kind: "command", effect: "delay-taken", operation: "CreateMision" }, false],
  [{ kind: "command", effect: "delay-taken", operation: ["CreateMission", "PauseRobot"] }, true],
  [{ kind: "command", effect: "delay-taken", operation: ["CreateMision"] }, false],
  [{ kind: "stream", effect: "drop", stream: "CreateMission" }, false],
  [{ kind: "stream", effect: "lose" }, false],
  [{ kind: "silence", forMS: 5 }, false],
  [{ kind: "end-streams", how: "goaway" }, true],
])("%j is a fault: %s", (fault, expected) => {
  expect(faultSchema.safeParse(fault).success).toBe(expected);
});

test("a scenario switches faults on at the start and later, and names a robot that is not there", async () => {
  expect(() => parseScenario("faults: [{ fault: { kind: plague } }]")).toThrow(/faults\.0\.fault/);
  const clock = createManualClock(Date.now());
  const scenario = {
    ...defaultScenario(),
    faults: [
      { afterMs: 0, fault: { kind: "exchange", effect: "refuse", forMs: 1_000 } as const },
      { afterMs: 60_000, fault: { kind: "silence" } as const },
    ],
  };
  const simulator = await startSimulator({ clock, scenario: { kind: "given", scenario } });
  expect(simulator.control.faults().map(({ kind }) => kind)).toEqual(["exchange"]);
  clock.advance(59_999);
  expect(simulator.control.faults()).toEqual([]);
  clock.advance(1);
  expect(simulator.control.faults()).toEqual([{ kind: "silence" }]);
  await simulator.stop();
});

test("a fault of several operations strikes each of them, and no other", async () => {
  const simulator = await startSimulator();
  const operation = ["SkipGoal", "CreateMission"];
  const fault: Fault = { kind: "command", operation, effect: "internal-before", count: 9 };
  simulator.control.apply(fault);
  const statusOf = async (path: string, body: object) => (await simulator.rest("POST", path, body)).status;
  expect(await statusOf("/v1/goal/skip", { robotId: "cart-01" })).toBe(500);
  expect((await simulator.rest("GET", "/amr/onlineAmr")).status).toBe(200);
  expect(simulator.control.faults()).toEqual([{ ...fault, count: 8 }]);
  await simulator.stop();
});

test("one fault ends, and the others stay", async () => {
  const simulator = await startSimulator();
  const command = (robotId: string): Fault => ({ kind: "command", effect: "delay-taken", robotId, count: 1 });
  const drop: Fault = { kind: "stream", effect: "drop", count: 1 };
  for (const fault of [command("cart-01"), command("cart-02"), drop, { kind: "silence" } as const])
    simulator.control.apply(fault);
  simulator.control.endFaults((fault) => fault.kind === "command" && fault.robotId === "cart-01");
  expect(simulator.control.faults()).toEqual([command("cart-02"), drop, { kind: "silence" }]);
  simulator.control.endFaults(({ kind }) => kind === "silence" || kind === "stream");
  expect(simulator.control.faults()).toEqual([command("cart-02")]);
  await simulator.stop();
});
