import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { createSequenceController, type PlcTime, type Retained, runUntil } from "./plc-controller.ts";

/** The example of docs/plc.md, A restart of the PLC, whose PLC loses its power after some cycles. */
const ROBOT = "cart-01";
const [SEND, DRIVES, IS_THERE] = [1, 2, 4];
let harness: E2eHarness;

beforeAll(async () => {
  const destinations = { 1: "Station A", 2: "Station B" };
  harness = await openE2eHarness({ timeFactor: 50 }, { opcua: { destinations } });
  await harness.plc.shows(`Robots.${ROBOT}.ReadyForCommand`, true);
});
afterAll(() => harness.close());

const time: PlcTime = { nowMs: 0 };
let retained: Retained | undefined;
const startPlc = () =>
  createSequenceController({ robot: ROBOT, session: () => harness.plc, nowMs: () => time.nowMs, retained });

const missions = () =>
  harness.record(ROBOT).filter(({ fact }) => fact.what === "received" && fact.operation === "CreateMission")
    .length;

test.each([
  ["just after the order was stored", 2, SEND, 1],
  ["just after the command was written", 1, SEND, 3],
  ["while the robot drives", 2, DRIVES, 1],
  ["when it has arrived", 1, IS_THERE, 1],
])("a loss of power %s: the robot is sent once", async (_when, place, step, cycles) => {
  const before = missions();
  const first = startPlc();
  await runUntil(first, time, () => first.variable("Step") === step, { place });
  for (let more = 1; more < cycles; more += 1) await first.cycle({ place });
  retained = first.retained();
  const again = startPlc();
  await runUntil(again, time, () => again.variable("Step") === IS_THERE, { place });
  expect(missions() - before).toBe(1);
  await runUntil(again, time, () => again.variable("Step") === 0);
  retained = again.retained();
});
