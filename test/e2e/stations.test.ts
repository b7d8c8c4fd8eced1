import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, openPlc, type Plc, type PlcUser, text } from "./plc.ts";

/** Longer than a machine that has much to do lets a PLC wait. */
const HEARTBEAT_MS = 3_000;
const ROBOT = "cart-01";
const [SUCCEEDED, REFUSED] = [3, 4] as const;
const [NAVIGATE, CONVEYOR, HOLD, RELEASE, OVERRIDE] = [1, 40, 50, 51, 52] as const;
const [STOP, CLOCKWISE] = [1, 2] as const;
const [NOT_ALLOWED, LEASE_HELD, NOT_AT_STATION] = [1006, 1016, 1018] as const;

const users = { line1: "operator", line2: "operator", eva: "engineer" } as const;
type User = keyof typeof users;

let folder: string;
let harness: E2eHarness;
/** PLCs by the user that they log on as. */
let plcs: Readonly<Record<User, Plc>>;
let stopBeating: () => Promise<void> = async () => {};
let beats = 0;
let requests = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-stations-"));
  const names = Object.keys(users) as User[];
  const passwordFile = (name: string) => join(folder, `${name}.password`);
  for (const name of names) await writeFile(passwordFile(name), `${name} secret`, { mode: 0o600 });
  harness = await openE2eHarness(
    { timeFactor: 20 },
    {
      opcua: {
        users: Object.fromEntries(
          names.map((name) => [name, { password: passwordFile(name), role: users[name] }]),
        ),
      },
      stations: {
        dock: { destinations: ["Station A"], users: ["line1", "eva"], heartbeatMs: HEARTBEAT_MS },
        gate: { destinations: ["Station B"], users: ["line2", "eva"], heartbeatMs: 60_000 },
      },
    },
  );
  const logOn = (name: User): Promise<Plc> => {
    const user: PlcUser = { name, password: `${name} secret` };
    return openPlc(harness.opcuaUrl, user);
  };
  plcs = { line1: await logOn("line1"), line2: await logOn("line2"), eva: await logOn("eva") };
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterAll(async () => {
  for (const plc of Object.values(plcs)) await plc.close();
  await harness.close();
  await rm(folder, { recursive: true, force: true });
});

/** The cart stands at Station A, leased to nobody, and all conveyors stand. */
beforeEach(async () => {
  await drive("Station A");
  for (const robotId of [ROBOT, "cart-02"])
    expect((await belts(robotId, STOP, 1, 2)).outcome).toBe("succeeded");
});
afterEach(async () => {
  await stopBeating();
  for (const station of ["dock", "gate"]) await order(plcs.eva, station, OVERRIDE);
});

const tag = (station: string, name: string) => `Stations.${station}.Slot.${name}`;

/** What a station's slot says at the end of an order. */
interface Answer {
  readonly outcome: unknown;
  readonly errorId: unknown;
  readonly errorText: unknown;
}

/**
 * An order through a station's slot, as a PLC gives it: parameters, then the ticket, then it waits for
 * DoneId.
 */
async function order(
  plc: Plc,
  station: string,
  operation: number,
  parameters: Readonly<Record<string, ReturnType<typeof int32>>> = {},
): Promise<Answer> {
  const ticket = await plc.nextId(tag(station, "NextId"));
  const written = Object.entries({ Robot: text(ROBOT), Operation: int32(operation), ...parameters });
  const statuses = await plc.write(...written.map(([name, value]) => [tag(station, name), value] as const), [
    tag(station, "RequestId"),
    int32(ticket),
  ]);
  expect(new Set(statuses)).toEqual(new Set(["Good"]));
  await plc.shows(tag(station, "DoneId"), ticket);
  return {
    outcome: await plc.value(tag(station, "Outcome")),
    errorId: await plc.value(tag(station, "ErrorId")),
    errorText: await plc.value(tag(station, "ErrorText")),
  };
}

const done: Answer = { outcome: SUCCEEDED, errorId: 0, errorText: "" };

/** What a station shows of the cart's lease, which is looked at about once a second. */
async function shownLease(station: string, leased: boolean, user: string): Promise<void> {
  await plcs.eva.shows(tag(station, "Leased"), leased);
  await plcs.eva.shows(tag(station, "LeaseStation"), user === "" ? "" : station);
  await plcs.eva.shows(tag(station, "LeaseUser"), user);
}

/** The PLC of the dock lives: its heartbeat changes several times in its period. */
async function beginBeating(): Promise<void> {
  const beat = async () => {
    beats += 1;
    await plcs.line1.write([tag("dock", "Heartbeat"), int32(beats)]);
  };
  let lastBeat = beat();
  await lastBeat;
  const timer = setInterval(() => {
    lastBeat = lastBeat.then(beat);
  }, HEARTBEAT_MS / 10);
  stopBeating = async () => {
    clearInterval(timer);
    await lastBeat;
  };
}

const overMqtt = (operation: string, request: object) => {
  requests += 1;
  return harness.mqtt.send(operation, `s${requests}`, request);
};

const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});

/** Sends the cart over MQTT, and waits until it is there. */
async function drive(destinationId: string): Promise<void> {
  const reply = await overMqtt("CreateMission", toStation(destinationId));
  expect(reply).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(`Robots.${ROBOT}.Mission.MissionId`, String(reply.response?.mission_id));
  await harness.plc.shows(`Robots.${ROBOT}.Mission.StateText`, "STATE_SUCCEEDED");
}

function belts(robotId: string, motor: number, ...indexes: readonly number[]) {
  const command = motor === STOP ? "COMMAND_CONVEYOR_MOTOR_STOP" : "COMMAND_CONVEYOR_MOTOR_CW";
  return overMqtt("ControlConveyor", { robotId, commands: indexes.map((index) => ({ index, command })) });
}

const rolls = (robotId: string, index: number, is: boolean) =>
  harness.plc.shows(`Robots.${robotId}.Conveyors.${index}.Rolling`, is);

/** Commands that the service was given for a robot since the harness was opened. */
const received = (robotId: string) => harness.record(robotId).filter(({ fact }) => fact.what === "received");

/** The next event of the cart's lease that ended for this reason, over MQTT. */
async function leaseEnded(reason: string, from: number): Promise<unknown> {
  const isIt = (event: string) => event.includes(`"reason":"${reason}"`);
  return JSON.parse((await harness.mqtt.on(`robots/${ROBOT}/event/lease`, isIt, from)).text);
}

const leaseLine = (what: string, from: number) =>
  harness.log.first(
    `a lease that ended: ${what}`,
    (line) => line.includes("lease ended") && line.includes(what),
    from,
  );

test("a robot that is not there is not leased", async () => {
  expect(await order(plcs.line2, "gate", HOLD)).toEqual({
    outcome: REFUSED,
    errorId: NOT_AT_STATION,
    errorText: `robot ${ROBOT} neither stands at nor heads for a destination of station gate`,
  });
  await shownLease("gate", false, "");
});

test("the slot of a station that is not the user's does not change, and the refusal is audited", async () => {
  const { line1, line2 } = plcs;
  const shown = ["Robot", "Operation", "RequestId", "NextId", "AcceptedId", "DoneId", "RejectedId", "Closed"];
  const values = () => Promise.all(shown.map((name) => line1.value(tag("dock", name))));
  const before = await values();
  const ticket = int32(await line2.nextId(tag("dock", "NextId")));
  const written = [
    [tag("dock", "Robot"), text("cart-02")],
    [tag("dock", "Operation"), int32(HOLD)],
    [tag("dock", "RequestId"), ticket],
  ] as const;
  expect(await line2.write(...written)).toEqual(written.map(() => "BadUserAccessDenied"));
  expect(await values()).toEqual(before);
  await shownLease("dock", false, "");
  await expect
    .poll(async () => (await harness.audit()).at(-1))
    .toMatchObject({
      user: "line2",
      operation: "Stations.dock.Slot",
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'opcua "line2" is not a user of station dock',
    });
});

test("leased at its destination, it obeys its station, and others are told whose it is; a lapse stops what the station started", async () => {
  // Somebody else's, before: on the same robot, and on another.
  await belts(ROBOT, CLOCKWISE, 2);
  await belts("cart-02", CLOCKWISE, 1);

  expect(await order(plcs.line1, "dock", HOLD)).toEqual(done);
  await beginBeating();
  await shownLease("dock", true, "line1");
  const rolling = { ConveyorIndex: int32(1), MotorCommand: int32(CLOCKWISE) };
  expect(await order(plcs.line1, "dock", CONVEYOR, rolling)).toEqual(done);
  await rolls(ROBOT, 1, true);

  const leased = `robot ${ROBOT} is leased to station dock for opcua "line1"`;
  const before = received(ROBOT).length;
  const refused = await overMqtt("CreateMission", toStation("Station B"));
  expect(refused).toMatchObject({
    outcome: "refused",
    code: "LEASE_HELD",
    message: leased,
    retry_safe: true,
  });
  expect(await belts(ROBOT, CLOCKWISE, 1)).toMatchObject({ code: "LEASE_HELD", message: leased });
  // Another user through a slot of the robot itself.
  const ticket = await harness.plc.nextId(`Robots.${ROBOT}.MissionSlot.NextId`);
  await harness.plc.write(
    [`Robots.${ROBOT}.MissionSlot.Operation`, int32(NAVIGATE)],
    [`Robots.${ROBOT}.MissionSlot.Destination`, text("Station B")],
    [`Robots.${ROBOT}.MissionSlot.RequestId`, int32(ticket)],
  );
  await harness.plc.shows(`Robots.${ROBOT}.MissionSlot.DoneId`, ticket);
  expect(await harness.plc.value(`Robots.${ROBOT}.MissionSlot.ErrorId`)).toBe(LEASE_HELD);
  expect(await harness.plc.value(`Robots.${ROBOT}.MissionSlot.ErrorText`)).toBe(leased);
  expect(received(ROBOT), "nothing of it was sent").toHaveLength(before);

  const from = harness.log.entries.length;
  const heardFrom = harness.mqtt.received.entries.length;
  await stopBeating();
  await leaseLine("the station's heartbeat has lapsed", from);
  await rolls(ROBOT, 1, false);
  const whose = { station: "dock", protocol: "opcua", user: "line1" };
  expect(await leaseEnded("lapsed", heardFrom)).toMatchObject({
    ...whose,
    from: "leased",
    to: "free",
    by: null,
  });
  const isOwn = (event: string) => event.includes('"command_id":"gateway:fleetgate/');
  const stop = await harness.mqtt.on(`robots/${ROBOT}/event/command`, isOwn, heardFrom);
  expect(JSON.parse(stop.text)).toMatchObject({ operation: "ControlConveyor", to: "succeeded" });
  await shownLease("dock", false, "");
  // What the gateway sent of itself is one stop of one conveyor, and nothing else.
  const sent = received(ROBOT).slice(before);
  expect(sent.map(({ fact }) => fact)).toEqual([
    expect.objectContaining({
      operation: "ControlConveyor",
      request: expect.objectContaining({
        robotId: ROBOT,
        commands: [expect.objectContaining({ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" })],
      }),
    }),
  ]);
  await rolls(ROBOT, 2, true);
  await rolls("cart-02", 1, true);
  expect(await belts(ROBOT, CLOCKWISE, 1)).toMatchObject({ outcome: "succeeded" });
});

test("stops pass a lease", async () => {
  expect(await order(plcs.line1, "dock", HOLD)).toEqual(done);
  await beginBeating();
  const rolling = { ConveyorIndex: int32(1), MotorCommand: int32(CLOCKWISE) };
  expect(await order(plcs.line1, "dock", CONVEYOR, rolling)).toEqual(done);
  expect(await belts(ROBOT, STOP, 1)).toMatchObject({ outcome: "succeeded" });
  await rolls(ROBOT, 1, false);
});

test("departure ends the lease though the heartbeat is healthy", async () => {
  expect(await order(plcs.line1, "dock", HOLD)).toEqual(done);
  await beginBeating();
  const from = harness.log.entries.length;
  const heardFrom = harness.mqtt.received.entries.length;
  // Sent away by its owner: it heads for where the station has no say.
  expect(await order(plcs.line1, "dock", NAVIGATE, { Destination: text("Station B") })).toEqual(done);
  const line = await leaseLine("the robot has left", from);
  expect(JSON.parse(line)).toMatchObject({ robotId: ROBOT, station: "dock", user: "line1" });
  expect(await leaseEnded("left", heardFrom)).toMatchObject({ station: "dock", user: "line1", by: null });
  const beatsThen = beats;
  await plcs.line1.shows(tag("dock", "Leased"), false);
  await plcs.line1.shows(tag("dock", "LeaseUser"), "");
  await harness.plc.shows(`Robots.${ROBOT}.Mission.StateText`, "STATE_SUCCEEDED");
  expect(beats, "its heart beats on").toBeGreaterThanOrEqual(beatsThen);
  // At its new place it is the other station's to ask for, and the first one's no more.
  expect(await order(plcs.line1, "dock", HOLD)).toMatchObject({ outcome: REFUSED, errorId: NOT_AT_STATION });
  expect(await order(plcs.line2, "gate", HOLD)).toEqual(done);
  await shownLease("gate", true, "line2");
  expect(await order(plcs.line2, "gate", RELEASE)).toEqual(done);
  await shownLease("gate", false, "");
});

test("an engineer ends anybody's lease, and nobody else does", async () => {
  expect(await order(plcs.line1, "dock", HOLD)).toEqual(done);
  await beginBeating();
  expect(await order(plcs.line2, "gate", RELEASE)).toMatchObject({ outcome: REFUSED, errorId: LEASE_HELD });
  expect(await order(plcs.line2, "gate", OVERRIDE)).toEqual({
    outcome: REFUSED,
    errorId: NOT_ALLOWED,
    errorText:
      'opcua "line2" may not send an override, which needs engineer: opcua.users.line2.role makes it operator',
  });
  await shownLease("dock", true, "line1");
  const from = harness.log.entries.length;
  expect(await order(plcs.eva, "gate", OVERRIDE)).toEqual(done);
  expect(JSON.parse(await leaseLine("overridden", from))).toMatchObject({ robotId: ROBOT, user: "eva" });
  await shownLease("dock", false, "");
  expect(await overMqtt("CreateMission", toStation("Station B"))).toMatchObject({ outcome: "succeeded" });
});
