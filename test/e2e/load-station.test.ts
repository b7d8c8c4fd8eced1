import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { every } from "../../src/platform/clock.ts";
import { type IdleHarness, openIdleHarness } from "./e2e-harness.ts";
import { int32 } from "./plc.ts";

const ROBOT = "cart-01";
/** Longer than a machine that has much to do lets a PLC wait. */
const HEARTBEAT_MS = 3_000;
const on = { dataType: "Boolean", value: true } as const;
const off = { dataType: "Boolean", value: false } as const;

let harness: IdleHarness;
let requests = 0;
let beats = 0;
let stopBeating: () => void = () => {};

beforeAll(async () => {
  const dock = {
    destinations: ["Station A"],
    heartbeatMs: HEARTBEAT_MS,
    permit: "required",
    pauseOnLoss: true,
    load: "CCW",
  };
  const robots = { [ROBOT]: { number: 7 } };
  harness = await openIdleHarness(5, { timeFactor: 2 }, { stations: { dock }, opcua: { robots } });
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterEach(() => stopBeating());
afterAll(() => harness.close());

const station = (name: string) => `Stations.dock.${name}`;
const robot = (name: string) => `Robots.${ROBOT}.${name}`;

function send(operation: string, request: object) {
  requests += 1;
  return harness.mqtt.send(operation, `p${requests}`, request);
}

const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});
const notPermitted = (reason: string) => ({
  outcome: "refused",
  code: "NO_PERMIT",
  message: `station dock does not permit starts towards "Station A": ${reason} (stations.dock.permit is required)`,
});

/** The station's PLC lives: its heartbeat changes several times in its period. */
function beginBeating(): void {
  const beat = () => {
    beats += 1;
    void harness.plc.write([station("Slot.Heartbeat"), int32(beats)]);
  };
  beat();
  const beating = new AbortController();
  every(harness.clock, HEARTBEAT_MS / 10, beating.signal, beat);
  stopBeating = () => beating.abort();
}

test("without the permit nothing starts towards the station; with it, a loss pauses what heads there", async () => {
  const never = notPermitted("Permit has not been written since the gateway started");
  expect(await send("CreateMission", toStation("Station A"))).toMatchObject(never);
  const slot = robot("MissionSlot.");
  const ticket = await harness.plc.nextId(`${slot}NextId`);
  await harness.plc.write([`${slot}CommandText`, { dataType: "String", value: `${ticket};1;Station A` }]);
  await harness.plc.shows(`${slot}DoneId`, ticket);
  expect(await harness.plc.value(`${slot}ErrorId`)).toBe(1024);
  expect(await harness.plc.value(`${slot}ErrorText`)).toBe(never.message);
  expect(await harness.plc.value(station("Permitted"))).toBe(false);

  beginBeating();
  expect(await harness.plc.write([station("Permit"), on])).toEqual(["Good"]);
  await harness.plc.shows(station("Permitted"), true);
  await harness.plc.shows(station("NotPermittedReason"), "");
  const sent = await send("CreateMission", toStation("Station A"));
  expect(sent).toMatchObject({ outcome: "succeeded" });
  const missionId = String(sent.response?.mission_id);
  await harness.plc.shows(robot("Mission.StateText"), "STATE_RUNNING");

  await harness.plc.write([station("Permit"), off]);
  await harness.plc.shows(station("NotPermittedReason"), "Permit is FALSE");
  await harness.plc.shows(robot("Mission.StateText"), "STATE_PAUSED");
  const resume = { robotId: ROBOT, missionCommand: { missionId, command: "COMMAND_RESUME" } };
  expect(await send("UpdateMission", resume)).toMatchObject(notPermitted("Permit is FALSE"));

  await harness.plc.write([station("Permit"), on]);
  expect(await send("UpdateMission", resume)).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(robot("Mission.StateText"), "STATE_RUNNING");
  stopBeating();
  await harness.plc.shows(robot("Mission.StateText"), "STATE_PAUSED");
  await harness.plc.shows(station("NotPermittedReason"), `Heartbeat has not changed for ${HEARTBEAT_MS} ms`);
  // A driver that repeats TRUE for a program that stands renews nothing.
  expect(await harness.plc.write([station("Permit"), on])).toEqual(["Good"]);
  expect(await harness.plc.value(station("Permitted"))).toBe(false);
  const cancel = { robotId: ROBOT, missionCommand: { missionId, command: "COMMAND_CANCEL" } };
  expect(await send("UpdateMission", cancel)).toMatchObject({ outcome: "succeeded" });

  const own = async () =>
    (await harness.audit()).filter(({ request_id }) => String(request_id).includes(".permit"));
  await expect
    .poll(async () => (await own()).map(({ operation, on_behalf_of }) => [operation, on_behalf_of]))
    .toEqual(new Array(2).fill(["UpdateMission", { station: "dock", protocol: "opcua", user: "anonymous" }]));
});

/** Waits until a list shows this; only scalars are compared as they change. */
const showsList = (name: string, list: readonly boolean[]) =>
  vi.waitFor(async () => expect(await harness.plc.value(station(name))).toEqual(list), 10_000);
const conveyorsOn = (...indexes: readonly number[]) =>
  Array.from({ length: 8 }, (_, index) => indexes.includes(index));
const values = (...names: readonly string[]) =>
  Promise.all(names.map((name) => harness.plc.value(station(name))));

test("shows who comes and who is here, with its conveyors; counts the visit; says when it is not known", async () => {
  const from = harness.mqtt.received.entries.length;
  beginBeating();
  await harness.plc.write([station("Permit"), off], [station("Permit"), on]);
  await harness.plc.shows(station("Permitted"), true);
  await harness.plc.shows(station("Valid"), true);
  expect(await values("RobotHere", "RobotHereNo", "RobotHereName")).toEqual([false, 0, ""]);

  expect(await send("CreateMission", toStation("Station A"))).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(station("NextRobot"), true);
  expect(await values("NextRobotNo", "NextRobotName", "NextRobotGoalsBefore")).toEqual([7, ROBOT, 0]);
  await harness.plc.shows(station("RobotHere"), true);
  expect(await values("RobotHereNo", "RobotHereName", "RobotsHere", "Valid")).toEqual([7, ROBOT, 1, true]);
  await harness.plc.shows(station("NextRobot"), false);
  const isHere = (payload: string) => JSON.parse(payload).state.robot_here === ROBOT;
  const published = await harness.mqtt.on("stations/dock", isHere, from);
  expect(JSON.parse(published.text)).toMatchObject({
    station: "dock",
    quality: "good",
    state: { valid: true, robots_here: 1, next_robot: null },
  });

  const command = async (...numbers: readonly number[]) => {
    const ticket = await harness.plc.nextId(station("Slot.NextId"));
    const value = [ticket, ...numbers, ...new Array(11 - numbers.length).fill(0)];
    await harness.plc.write([station("Slot.Command"), { dataType: "Int32", arrayType: "Array", value }]);
    await harness.plc.shows(station("Slot.DoneId"), ticket);
    expect(await harness.plc.value(station("Slot.ErrorText"))).toBe("");
  };
  const [lease, release] = [50, 51];
  // So long the robot waits at least.
  await harness.clock.pass(1_000);
  await command(lease, 7);
  await command(40, 7, 1, 4);
  expect(await harness.plc.value(station("Slot.AcceptedText"))).toBe(
    `${ROBOT}: load: conveyor 1: turn counter-clockwise`,
  );
  await showsList("Rolling", conveyorsOn(1));
  await command(40, 7, 1, 1);
  await showsList("Rolling", conveyorsOn());
  await command(release, 7);

  expect(await send("CreateMission", toStation("Station B"))).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(station("RobotHere"), false);
  await harness.plc.shows(station("Counters.Cycles"), 1);
  const [aborted, waiting, cycle] = await values(
    "Counters.Aborted",
    "Counters.WaitingLast",
    "Counters.CycleLast",
  );
  expect(aborted).toBe(0);
  expect(Number(waiting)).toBeGreaterThan(0.9);
  expect(Number(cycle)).toBeGreaterThan(Number(waiting));
  expect(await harness.plc.write([station("Counters.Reset"), on])).toEqual(["Good"]);
  await harness.plc.shows(station("Counters.Cycles"), 0);
  expect(await values("Counters.CycleTotal", "Counters.Reset")).toEqual([0, true]);

  await harness.stopService();
  await harness.plc.shows(station("Valid"), false);
  for (const name of ["RobotHere", "Arrived", "NextRobot"]) {
    // Before the connection is seen to end, the online list may have been late.
    await expect
      .poll(async () => {
        const { status, value } = await harness.plc.read(station(name));
        return [status, value];
      })
      .toEqual(["UncertainNoCommunicationLastUsableValue", false]);
  }
});
