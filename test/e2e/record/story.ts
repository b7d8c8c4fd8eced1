import { expect } from "vitest";
import { eventLine, followEvents } from "../../../src/cli/tail.ts";
import type { RecordHarness } from "./record-harness.ts";
import type { Step } from "./texts.ts";

/** A mission of a cart to a destination. */
export const toStation = (robotId: string, destinationId: string) => ({
  robotId,
  mission: { cartMission: { navigateMission: { goal: { destinationId } } } },
});

/** Plays what is recorded. The result are its steps, each with the number of messages until its end. */
export async function tellStory(harness: RecordHarness): Promise<readonly Step[]> {
  const { send, pass, untilPublished, simulator } = harness;
  const steps: Step[] = [];
  const step = (name: string) => void steps.push({ name, until: harness.published.length });
  const command = (operation: string, id: string, request: object) =>
    send(`command/${operation}`, { id, request });
  const mission = (id: string, robotId: string, destinationId: string) =>
    command("CreateMission", id, toStation(robotId, destinationId));
  const ended = (robotId: string, state: string) =>
    untilPublished(`robots/${robotId}/event/mission`, (text) => text.includes(`"to":"${state}"`));
  const turn = (motor: string) => {
    const commands = [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }];
    return command("ControlConveyor", `turn-${motor}`, { robotId: "cart-01", commands });
  };

  step("start");

  await mission("drive", "cart-01", "Station D");
  await pass(20_000);
  await ended("cart-01", "STATE_SUCCEEDED");
  step("mission");

  await send("command/LeaseRobot", { id: "ask", station: "dock", robot_id: "cart-01" });
  await send("command/Heartbeat", { id: "beat", station: "dock", counter: 1 });
  await send("command/ReleaseRobot", { id: "release", station: "dock", robot_id: "cart-01" });
  step("lease");

  await turn("CW");
  await pass(2_000);
  await turn("STOP");
  await pass(1_000);
  step("conveyor");

  const begun = await mission("drive-2", "cart-03", "Station C");
  const missionId = JSON.parse(begun).response.mission_id;
  await pass(2_000);
  const cancel = { robotId: "cart-03", missionCommand: { missionId, command: "COMMAND_CANCEL" } };
  await command("UpdateMission", "cancel", cancel);
  await pass(2_000);
  await ended("cart-03", "STATE_CANCELED");
  step("cancelled mission");

  await send("command/Hold", { id: "hold", robot_id: "cart-01", hold: true });
  await mission("held", "cart-01", "Station C");
  await send("command/Hold", { id: "free", robot_id: "cart-01", hold: false });
  step("hold");

  await mission("nowhere", "cart-01", "Station Z");
  await mission("nobody", "cart-09", "Station D");
  await command("MakeCoffee", "coffee", {});
  await command("CreateMission", "shapeless", { robot: 1 });
  const late = { id: "late", expires_at: "2020-01-01T00:00:00Z", request: toStation("cart-01", "Station D") };
  await send("command/CreateMission", late);
  step("refused commands");

  const lost = { kind: "command", operation: "CreateMission", effect: "delay-not-taken", count: 1 } as const;
  simulator.control.apply(lost);
  const unknown = mission("unknown", "cart-03", "Station D");
  await harness.until(() => simulator.control.faults().length === 0);
  await pass(12_000);
  await unknown;
  step("unknown outcome");

  const result = await harness.reload({ alarms: { battery: { low: 50, critical: 10 } } });
  expect(result).toMatchObject({ applied: ["alarms.battery.low"], refused: [] });
  await pass(5_000);
  await untilPublished("robots/cart-03/event/alarm", (text) => text.includes("BATTERY_LOW"));
  step("reload");

  simulator.control.happen({ kind: "offline", robotId: "serve-01" });
  simulator.control.happen({ kind: "conveyor-health", robotId: "cart-01", index: 2, ok: false });
  await pass(10_000);
  step("robot away");
  return steps;
}

/**
 * Follows what happens, as `fleetgate tail`, until the gateway stops. Resolves when that has begun; `ended`
 * gives the lines of each robot.
 */
export async function followTail({
  socketPath,
}: RecordHarness): Promise<{ readonly ended: Promise<string> }> {
  const lines: string[] = [];
  return new Promise((begun, failed) => {
    const onEvents: Parameters<typeof followEvents>[1] = (events) => {
      begun({ ended });
      lines.push(...events.map((event) => `${eventLine(event)}\n`));
    };
    const followed = followEvents(socketPath, onEvents, new AbortController().signal);
    followed.catch(failed);
    const ended = followed.then(() => {
      // Which of two robots the service shows first is open.
      const robotOf = (line: string) => line.split(/ {2,}/)[1] ?? "";
      return lines.sort((one, other) => robotOf(one).localeCompare(robotOf(other))).join("");
    });
  });
}
