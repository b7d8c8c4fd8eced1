import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import {
  createPageController,
  type Driver,
  type PageController,
  type PlcTime,
  type Retained,
  runUntil,
} from "./plc-controller.ts";

/** The program of docs/plc.md, interpreted, with the simulated plant that the demo has. */
let harness: E2eHarness;
const destinations = { 1: "Station A", 2: "Station B", 3: "Station C", 4: "Station D" };

beforeAll(async () => {
  harness = await openE2eHarness({ timeFactor: 50 }, { opcua: { destinations } });
});
afterAll(() => harness.close());

/** The PLC's time. */
const time: PlcTime = { nowMs: 0 };
const until = (
  controller: PageController,
  is: () => boolean,
  inputs?: Parameters<PageController["cycle"]>[0],
) => runUntil(controller, time, is, inputs);

/** The robot runs a mission, or has paused it. */
const UNDER_WAY = [2, 3];

/**
 * Waits until a press of the button would send something that the service takes: the robot has no mission
 * under way and is ready, and the slot's last command has ended (DoneId is AcceptedId). A press at another
 * moment is answered with NotSent, for good. The program alone does not know of a command that its earlier
 * life, without retained memory, left running.
 */
async function untilReady(controller: PageController, robot: string): Promise<void> {
  await expect.poll(() => harness.plc.value(`Robots.${robot}.Mission.State`)).not.toBeOneOf(UNDER_WAY);
  await until(controller, () => {
    const [acceptedId, doneId] = controller.answer();
    return controller.output("CanExecute") && acceptedId === doneId;
  });
}

const hasStopEnded = (controller: PageController) =>
  controller.output("StopDone") || controller.output("StopError");

function controllerOf(robot: string, driver: Driver, retained?: Retained): PageController {
  return createPageController({
    robot,
    session: () => harness.plc,
    nowMs: () => time.nowMs,
    driver,
    retained,
  });
}

function missionsOf(robot: string): number {
  const isMission = ({ fact }: { fact: { what: string; operation?: string } }) =>
    fact.what === "received" && fact.operation === "CreateMission";
  return harness.record(robot).filter(isMission as never).length;
}

test.each([
  ["cart-01", "cyclic"],
  ["cart-02", "on-change"],
  ["serve-01", "blocks"],
  ["serve-02", "failing-blocks"],
  ["cart-03", "instructions"],
] as const)("%s comes when the button is pressed, once, with a %s driver", async (robot, driver) => {
  await harness.plc.shows(`Robots.${robot}.ReadyForCommand`, true);
  const controller = controllerOf(robot, driver);
  await untilReady(controller, robot);
  // The button stays pressed: that is one command.
  await until(controller, () => controller.output("Done"), { call: true });
  expect(controller.outcome()).toBe(3);
  for (let cycles = 0; cycles < 20; cycles += 1) await controller.cycle({ call: true });
  expect(missionsOf(robot)).toBe(1);
  await until(controller, () => controller.variable("RobotIsHere") === true);
  await harness.plc.shows(`Robots.${robot}.MissionSlot.MissionState`, 5);
});

test("a second command is a second number", async () => {
  const controller = controllerOf("cart-01", "on-change");
  const before = missionsOf("cart-01");
  await untilReady(controller, "cart-01");
  for (let presses = 0; presses < 2; presses += 1) {
    await until(controller, () => controller.output("Done"), { call: true });
    await untilReady(controller, "cart-01");
  }
  expect(missionsOf("cart-01")).toBe(before + 2);
});

test("the stop goes out while the mission is under way", async () => {
  const controller = controllerOf("cart-02", "cyclic");
  await untilReady(controller, "cart-02");
  await until(controller, () => controller.output("Busy"), { call: true });
  const isStopped = () =>
    harness
      .record("cart-02")
      .some(({ fact }) => fact.what === "received" && fact.operation === "UpdateMission");
  // The mission may have ended by then: the service refuses to cancel it.
  await until(controller, () => hasStopEnded(controller), { halt: true });
  expect(isStopped()).toBe(true);
});

test.each(["with", "without"])(
  "a PLC that starts again %s retained memory sends nothing twice",
  async (how) => {
    const controller = controllerOf("cart-01", "cyclic");
    await untilReady(controller, "cart-01");
    const before = missionsOf("cart-01");
    await until(controller, () => controller.output("Busy"), { call: true });
    const again = controllerOf("cart-01", "cyclic", how === "with" ? controller.retained() : undefined);
    await until(again, () => !again.output("Busy"));
    if (how === "with") expect([again.output("Done"), again.output("NotSent")]).toContain(true);
    const sent = missionsOf("cart-01") - before;
    expect(sent).toBeLessThanOrEqual(1);
    // The next test begins with a slot in which nothing runs: a slow disk may still record this command.
    const number = Number(controller.retained()["slot.my"]);
    await until(again, () => {
      const [acceptedId, doneId, ...others] = again.answer();
      return (acceptedId === number && doneId === number) || others.slice(10).map(Math.abs).includes(number);
    });
  },
);

test("the button stays pressed while somebody holds the robot and lifts it: that is no second command", async () => {
  const [robot, hold] = ["cart-01", "Robots.cart-01.Hold"];
  const controller = controllerOf(robot, "cyclic");
  await untilReady(controller, robot);
  await until(controller, () => controller.output("Done"), { call: true });
  const sent = missionsOf(robot);
  for (const value of [true, false]) {
    await harness.plc.write([hold, { dataType: "Boolean", value }]);
    await harness.plc.shows(`Robots.${robot}.ReadyForCommand`, !value);
    for (let cycles = 0; cycles < 3; cycles += 1) await controller.cycle({ call: true });
  }
  expect(missionsOf(robot)).toBe(sent);
});

test("a button that is pressed when the PLC starts again sends nothing until it is pressed anew", async () => {
  const controller = controllerOf("cart-02", "cyclic");
  await untilReady(controller, "cart-02");
  await until(controller, () => controller.output("Done"), { call: true });
  const sent = missionsOf("cart-02");
  const again = controllerOf("cart-02", "cyclic", controller.retained());
  for (let cycles = 0; cycles < 20; cycles += 1) {
    await again.cycle({ call: true });
    expect([again.output("Error"), again.output("NotSent")]).toEqual([true, true]);
  }
  expect(missionsOf("cart-02")).toBe(sent);
  await untilReady(again, "cart-02");
  await until(again, () => again.output("Done"), { call: true });
  expect(missionsOf("cart-02")).toBe(sent + 1);
});

test("a button that is pressed without a connection sends nothing later, and says so", async () => {
  const controller = controllerOf("cart-02", "cyclic");
  await untilReady(controller, "cart-02");
  const sent = missionsOf("cart-02");
  controller.cycleWithoutConnection({ call: true });
  expect(controller.output("NotSent")).toBe(true);
  time.nowMs += 3_600_000;
  for (let cycles = 0; cycles < 20; cycles += 1) await controller.cycle({ call: true });
  expect(controller.output("NotSent")).toBe(true);
  await untilReady(controller, "cart-02");
  expect(controller.output("NotSent")).toBe(false);
  expect(missionsOf("cart-02")).toBe(sent);
});

test.each([
  ["released: it is not sent later", false],
  ["kept pressed: it goes out with the connection", true],
])("a stop that is pressed without a connection and %s", async (_how, isKept) => {
  const controller = controllerOf("serve-01", "cyclic");
  await untilReady(controller, "serve-01");
  const stopsSent = () =>
    harness
      .record("serve-01")
      .filter(({ fact }) => fact.what === "received" && fact.operation === "UpdateMission").length;
  const before = stopsSent();
  controller.cycleWithoutConnection({ halt: true });
  controller.cycleWithoutConnection({ halt: isKept });
  time.nowMs += 60_000;
  await until(controller, () => hasStopEnded(controller), { halt: isKept });
  expect(stopsSent()).toBe(before + (isKept ? 1 : 0));
});
