import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RobotLease } from "../../../src/contracts/stations.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { robotChange } from "./changes.ts";
import { createFakeCommander, succeeded } from "./fake-commands.ts";
import { type Caller, noStations, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { int32, text } from "./slots-harness.ts";

const slot = (name: string) => `Stations.packing.Slot.${name}`;
const robots = [
  { robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [0] },
  { robotId: "r2", alias: "AMR02", number: 8, family: "cart", conveyorIndexes: [0] },
] as const;
let running: RunningServer;
let plc: Caller;
let commander = createFakeCommander();
let clock = createManualClock();
let asked: string[] = [];
let lease: RobotLease | null = null;

const stations: typeof noStations = {
  ...noStations,
  async ask(station, source, robotId) {
    asked.push(`ask ${station} ${source.name} ${robotId}`);
    if (lease !== null) return refusal("LEASE_HELD", `station ${lease.station} leases it`);
    lease = { station, owner: source, sinceMs: 0 };
    return null;
  },
  release(station, source, robotId) {
    asked.push(`release ${station} ${source.name} ${robotId}`);
    lease = null;
    return null;
  },
  heartbeat: (station, source) => void asked.push(`heartbeat ${station} ${source.name}`),
  override(_source, robotId) {
    asked.push(`override ${robotId}`);
    lease = null;
    return null;
  },
  leaseOf: () => lease,
  leased: () => [],
};

beforeEach(async () => {
  commander = createFakeCommander();
  clock = createManualClock();
  asked = [];
  lease = null;
  running = await startServer(
    {
      robots,
      stations: [{ name: "packing", needsPermit: false, load: "CCW" }],
      destinations: new Map([[4, "Station A"]]),
    },
    { commander, clock, stations },
  );
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
  plc = await openSession(running.url);
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

const shown = (...names: string[]) => Promise.all(names.map((name) => plc.value(slot(name))));
const array = (...values: number[]) =>
  ({
    dataType: "Int32",
    arrayType: "Array",
    value: [...values, ...new Array(12 - values.length).fill(0)],
  }) as const;

/** Sends one operation with the robot by name. */
async function send(operation: number, robot = "AMR01"): Promise<number> {
  const ticket = await plc.nextId(slot("NextId"));
  await plc.write(
    [slot("Robot"), text(robot)],
    [slot("Operation"), int32(operation)],
    [slot("RequestId"), int32(ticket)],
  );
  return ticket;
}

it("leases a robot for the user that asks, and shows it", async () => {
  const ticket = await send(50);
  expect(await shown("DoneId", "Outcome", "Leased", "LeaseStation", "LeaseUser")).toEqual([
    ticket,
    3,
    true,
    "packing",
    "anonymous",
  ]);
  const again = await send(50);
  expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
    again,
    4,
    1016,
    "station packing leases it",
  ]);
  expect(await shown("AcceptedText")).toEqual(["r1: take the lease"]);
  await send(51);
  expect(await shown("AcceptedText")).toEqual(["r1: release the lease"]);
  expect(await shown("Outcome", "Leased", "LeaseStation")).toEqual([3, false, ""]);
  expect(asked).toEqual([
    "ask packing anonymous r1",
    "ask packing anonymous r1",
    "release packing anonymous r1",
  ]);
});

it("NOT_ALLOWED: leaves an override to engineers", async () => {
  await send(52);
  expect(await shown("AcceptedText")).toEqual(["r1: end another's lease"]);
  expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([
    4,
    1006,
    'opcua "anonymous" may not send an override, which needs engineer: opcua.insecureLoopback.role makes it operator',
  ]);
  expect(asked).toEqual([]);
});

it("ends another's lease for an engineer", async () => {
  await send(50);
  await plc.close();
  await running.stop();
  const chief: OpcUaUser = {
    name: "chief",
    role: "engineer",
    number: null,
    secret: { kind: "plain", text: "a secret" },
  };
  running = await startServer(
    { robots, stations: [{ name: "packing", needsPermit: false, load: null }], users: [chief] },
    { commander, clock, stations },
  );
  running.server.write({ changes: [robotChange("r1", "good")], events: [] });
  plc = await openSession(running.url, { user: { name: "chief", password: "a secret" } });
  expect(lease).not.toBeNull();
  await send(52);
  expect(await shown("Outcome", "ErrorId", "Leased", "LeaseUser")).toEqual([3, 0, false, ""]);
  expect(asked.at(-1)).toBe("override r1");
});

it("shows a lease that ends by itself", async () => {
  await send(50);
  lease = null;
  clock.advance(1_000);
  expect(await shown("Leased")).toEqual([false]);
});

it("takes a heartbeat that changes for a sign of life, and no other", async () => {
  for (const value of [1, 1, 2, 2, 3]) await plc.write([slot("Heartbeat"), int32(value)]);
  expect(asked).toEqual(["heartbeat packing anonymous", "heartbeat packing anonymous"]);
});

it("takes no number of a session that connects again for a sign of life, as long as it does not change", async () => {
  for (let session = 0; session < 5; session += 1) {
    const fresh = await openSession(running.url);
    for (const value of [7, 7]) await fresh.write([slot("Heartbeat"), int32(value)]);
    await fresh.close();
  }
  expect(asked).toEqual([]);
});

it("takes heartbeats while a command of another session runs", async () => {
  await plc.write([slot("ConveyorIndex"), int32(0)], [slot("MotorCommand"), int32(2)]);
  await send(40);
  const sent = await commander.next();
  const other = await openSession(running.url);
  expect(await other.write([slot("Heartbeat"), int32(9)])).toEqual([StatusCodes.Good]);
  expect(await other.write([slot("Robot"), text("x")])).toEqual([StatusCodes.Good]);
  sent.end(succeeded(null));
  await other.close();
});

it("turns a conveyor of the robot that it names", async () => {
  await plc.write([slot("ConveyorIndex"), int32(1)], [slot("MotorCommand"), int32(3)]);
  await send(40, "r1");
  const { command } = await commander.next();
  expect(command).toMatchObject({ operation: "ControlConveyor", robotId: "r1" });
  expect(JSON.parse(command.requestJson).commands).toEqual([
    { index: 1, command: "COMMAND_CONVEYOR_MOTOR_CCW" },
  ]);
});

it("takes numbers for robot and destination, in one array", async () => {
  const ticket = await plc.nextId(slot("NextId"));
  // Ticket, operation, robot, conveyor, motor, destinations.
  expect(await plc.write([slot("Command"), array(ticket, 1, 7, 0, 0, 4)])).toEqual([StatusCodes.Good]);
  const { command } = await commander.next();
  expect(JSON.parse(command.requestJson)).toMatchObject({
    robotId: "r1",
    mission: { cartMission: { navigateMission: { goal: { destinationId: "Station A" } } } },
  });
});

it("refuses a number that its operation does not use", async () => {
  for (const [numbers, place, value] of [
    [[1, 7, 1, 0, 4], 3, 1],
    [[1, 7, 0, 2, 4], 4, 2],
    [[1, 7, 0, 0, 4, 4], 6, 4],
    [[40, 7, 0, 2, 4], 5, 4],
    [[50, 7, 0, 0, 4], 5, 4],
    [[31, 7, 0, 0, 4], 5, 4],
  ] as const) {
    const ticket = await plc.nextId(slot("NextId"));
    await plc.write([slot("Command"), array(ticket, ...numbers)]);
    expect(await shown("DoneId", "Outcome", "ErrorText")).toEqual([
      ticket,
      4,
      `Command[${place}] is ${value}, and this operation uses nothing there: write 0`,
    ]);
  }
  expect(asked).toEqual([]);
  expect(commander.submitted).toHaveLength(0);
});

it.each([
  ["ControlConveyor", [40, 7, 0, 1, 4]],
  ["UpdateMission", [10, 7, 1, 2, 4]],
] as const)("stops by %s whatever stands in the other places", async (operation, numbers) => {
  await plc.write([slot("Command"), array(await plc.nextId(slot("NextId")), ...numbers)]);
  expect((await commander.next()).command.operation).toBe(operation);
});

it.each([
  ["nobody", 'robot "nobody" was never heard of'],
  ["no number", "Robot is missing, and RobotNo is the number of no robot that has nodes"],
])("refuses a robot that has no nodes: %s", async (name, told) => {
  for (const operation of [50, 51, 52]) {
    if (name === "nobody") await send(operation, name);
    else {
      await plc.write([slot("RobotNo"), int32(99)]);
      await send(operation, "");
    }
    expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([4, 1017, told]);
  }
});

it("refuses a command that names no robot", async () => {
  await send(50, "");
  expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([
    4,
    1000,
    "Robot (or RobotNo) is missing: this session has not written it",
  ]);
});

it.each([
  ["40;AMR01;1;3", '"COMMAND_CONVEYOR_MOTOR_CCW"'],
  ["1;AMR01;Dock C", '"Dock C"'],
  ["10;r1;m-4", '"m-4"'],
])("takes a whole command as one text: %s", async (rest, part) => {
  await plc.write([slot("CommandText"), text(`${await plc.nextId(slot("NextId"))};${rest}`)]);
  const { command } = await commander.next();
  expect(command.robotId).toBe("r1");
  expect(command.requestJson).toContain(part);
});

it("refuses a text that is no command", async () => {
  for (const [rest, told] of [
    ["50;AMR01;1", "CommandText has 1 fields behind the robot, which is not right for 50"],
    [
      "x;AMR01",
      "CommandText is not of the form number;operation;destination, with the robot before the destination",
    ],
  ] as const) {
    await plc.write([slot("CommandText"), text(`${await plc.nextId(slot("NextId"))};${rest}`)]);
    expect(await shown("Outcome", "ErrorId", "ErrorText")).toEqual([4, 1000, told]);
  }
});

it.each([
  ["another robot", 8],
  ["no robot", 9],
])("refuses a name beside a number of %s, and shows no lease", async (_what, number) => {
  await send(50);
  expect(await shown("Outcome", "Leased")).toEqual([3, true]);
  await plc.write([slot("RobotNo"), int32(number)], [slot("MotorCommand"), int32(1)]);
  const ticket = await send(40);
  expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
    ticket,
    4,
    1000,
    "Robot and RobotNo do not name the same robot: which is meant?",
  ]);
  expect(commander.submitted).toHaveLength(0);
  clock.advance(1_000);
  expect(await shown("Leased", "LeaseStation")).toEqual([false, ""]);
  await send(51);
  expect(lease).not.toBeNull();
});

it("takes a name and a number of the same robot", async () => {
  await plc.write(
    [slot("RobotNo"), int32(7)],
    [slot("ConveyorIndex"), int32(0)],
    [slot("MotorCommand"), int32(1)],
  );
  await send(40);
  expect((await commander.next()).command.robotId).toBe("r1");
});

it("sends nothing on a number whose replacement was refused", async () => {
  await plc.write([slot("RobotNo"), int32(7)], [slot("MotorCommand"), int32(1)]);
  await plc.write([slot("RobotNo"), int32(-1)]);
  const ticket = await send(40);
  expect(await shown("DoneId", "Outcome", "ErrorId")).toEqual([ticket, 4, 1000]);
  expect(commander.submitted).toHaveLength(0);
});

it("stops a conveyor whatever was wrong with the parameters of missions", async () => {
  await plc.write(
    [slot("Destinations"), { dataType: "String", arrayType: "Array", value: new Array(17).fill("A") }],
    [slot("TargetMissionId"), text("x".repeat(255))],
    [slot("RobotNo"), int32(-1)],
    [slot("ConveyorIndex"), int32(0)],
    [slot("MotorCommand"), int32(1)],
  );
  await send(40);
  expect((await commander.next()).command.operation).toBe("ControlConveyor");
});

it("does not stop another robot's conveyor where the robot was refused", async () => {
  await plc.write([slot("Robot"), text("AMR01")], [slot("MotorCommand"), int32(1)]);
  await plc.write([slot("Robot"), text("x".repeat(255))]);
  const ticket = await plc.nextId(slot("NextId"));
  await plc.write([slot("Operation"), int32(40)], [slot("RequestId"), int32(ticket)]);
  expect(await shown("DoneId", "Outcome", "ErrorId")).toEqual([ticket, 4, 1000]);
  expect(commander.submitted).toHaveLength(0);
});

it("loads and unloads as the station's configuration says, and turns as it always did", async () => {
  for (const [motor, told, command] of [
    [4, "r1: load: conveyor 2: turn counter-clockwise", "COMMAND_CONVEYOR_MOTOR_CCW"],
    [5, "r1: unload: conveyor 2: turn clockwise", "COMMAND_CONVEYOR_MOTOR_CW"],
    [2, "r1: conveyor 2: turn clockwise", "COMMAND_CONVEYOR_MOTOR_CW"],
    [1, "r1: conveyor 2: stop", "COMMAND_CONVEYOR_MOTOR_STOP"],
  ] as const) {
    await plc.write([slot("Command"), array(await plc.nextId(slot("NextId")), 40, 7, 2, motor)]);
    const sent = await commander.next();
    expect(JSON.parse(sent.command.requestJson).commands).toEqual([{ index: 2, command }]);
    sent.end(succeeded(null));
    await vi.waitFor(async () => expect(await shown("AcceptedText", "Outcome")).toEqual([told, 3]), 20_000);
  }
  expect(await plc.write([slot("MotorCommand"), int32(6)])).toEqual([StatusCodes.BadOutOfRange]);
});
