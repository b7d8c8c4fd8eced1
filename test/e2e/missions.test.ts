import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { type FollowedRobot, followRobot } from "./followed-robot.ts";
import { followWithMosquitto, haveMosquittoSub } from "./mosquitto-sub.ts";
import { int32, text } from "./plc.ts";

/** The world stands still but for the steps of the tests: every run gives the same transcript. */
let clock: ManualClock;
let harness: E2eHarness;

beforeAll(async () => {
  clock = createManualClock(Date.now());
  harness = await openE2eHarness({ clock, timeFactor: 1 });
});
afterAll(() => harness.close());

const [RUNNING, PAUSED, CANCELED, SUCCEEDED] = [2, 3, 4, 5] as const;

function navigate(robotId: string, destinationId: string) {
  return { robotId, mission: { baseMission: { navigateMission: { goal: { destinationId } } } } };
}

function escaped(text: string): string {
  return text.replace(/[[\]{}]/g, "\\$&");
}

/**
 * Writes a slot's parameters and its next ticket in one request, the ticket first: its place must not matter.
 * Resolves when the ticket is done: the world's time must not pass before.
 */
async function order(
  robot: FollowedRobot,
  slot: "MissionSlot" | "ConveyorSlot",
  parameters: Readonly<Record<string, ReturnType<typeof int32>>>,
): Promise<number> {
  const ticket = await harness.plc.nextId(robot.tag(`${slot}.NextId`));
  const statuses = await harness.plc.write(
    [robot.tag(`${slot}.RequestId`), int32(ticket)],
    ...Object.entries(parameters).map(([name, value]) => [robot.tag(`${slot}.${name}`), value] as const),
  );
  expect(new Set(statuses)).toEqual(new Set(["Good"]));
  await harness.plc.shows(robot.tag(`${slot}.DoneId`), ticket);
  return ticket;
}

/** Waits for the event of a mission's end: events go out behind the state that tests wait for. */
async function endTold(robotId: string, missionId: string): Promise<void> {
  await harness.mqtt.on(
    `robots/${robotId}/event/mission`,
    (text) => text.includes(`"${missionId}"`) && /"to":"STATE_(SUCCEEDED|CANCELED)"/.test(text),
  );
}

test("a mission sent over MQTT, followed over both protocols to its end", async () => {
  const robot = await followRobot(harness, clock, "cart-01");
  const goals = [{ destinationId: "Station D" }, { destinationId: "Station C" }];
  const request = { robotId: "cart-01", mission: { cartMission: { traverseMission: { goals } } } };
  const reply = await harness.mqtt.send("CreateMission", "to-d-and-c", request);
  const missionId = String(reply.response?.mission_id);
  expect(await harness.mqtt.replyText("to-d-and-c")).toBe(
    `{"id":"to-d-and-c","outcome":"succeeded","code":"OK","message":"","retry_safe":false,"response":{"mission_id":"${missionId}"},"duplicate":false}`,
  );
  await robot.live("the mission has ended", () => robot.values("Mission.State").at(-1) === SUCCEEDED);

  expect(robot.missionLines()).toEqual([
    "0.00 good no mission",
    "0.00 good STATE_RUNNING goal 0 Station D STATUS_NAVIGATING",
    "9.66 good STATE_RUNNING goal 0 Station D STATUS_DOCKING",
    "11.66 good STATE_RUNNING goal 0 Station D STATUS_ARRIVED",
    "16.66 good STATE_RUNNING goal 1 Station C STATUS_UNDOCKING",
    "18.16 good STATE_RUNNING goal 1 Station C STATUS_NAVIGATING",
    "30.16 good STATE_RUNNING goal 1 Station C STATUS_DOCKING",
    "32.16 good STATE_RUNNING goal 1 Station C STATUS_ARRIVED",
    "37.16 good STATE_SUCCEEDED goal 1 Station C STATUS_ARRIVED",
  ]);
  const mission = `{"mission_id":"${missionId}","state":"STATE_SUCCEEDED","goals":[{"destination_id":"Station D"},{"destination_id":"Station C"}],"current_goal_index":1,"mission_feedback":{"cart_feedback":{"status":"STATUS_ARRIVED"}},"mission_type":{"cart_type":"CART_TYPE_TRAVERSE"},"owner":"api"}`;
  expect(harness.mqtt.texts("robots/cart-01/mission").at(-1)).toMatch(
    new RegExp(
      `^\\{"robot_id":"cart-01","quality":"good","received_at":"[-0-9]{10}T[0-9:.]{12}Z","session_id":"[-0-9a-f]{36}",` +
        `"state":\\{"metadata":\\{"timestamp":"[-0-9]{10}T[0-9:.]{12}Z","sequence_number":8\\},"missions":\\[${escaped(mission)}\\],` +
        `"current_mission_index":0,"current_mission":${escaped(mission)},"current_goal":\\{"destination_id":"Station C"\\}\\}\\}$`,
    ),
  );
  await endTold("cart-01", missionId);
  expect(robot.transitions(missionId)).toEqual(["null → STATE_RUNNING", "STATE_RUNNING → STATE_SUCCEEDED"]);
  const [event] = harness.mqtt.texts("robots/cart-01/event/mission");
  expect(JSON.parse(event ?? "")).toMatchObject({ owner: "api", command_id: "mqtt:e2e/to-d-and-c" });

  expect(robot.values("Mission.MissionId")).toEqual(["", missionId]);
  expect(robot.values("Mission.State")).toEqual([0, RUNNING, SUCCEEDED]);
  expect(robot.values("Mission.StateText")).toEqual(["", "STATE_RUNNING", "STATE_SUCCEEDED"]);
  expect(robot.values("Mission.Feedback")).toEqual([0, 1, 3, 2, 4, 1, 3, 2]);
  expect(robot.values("Mission.Arrived")).toEqual([false, true, false, true]);
  expect(robot.values("Mission.CurrentGoal")).toEqual(["", "Station D", "Station C"]);
  expect(robot.values("Mission.CurrentGoalIndex")).toEqual([0, 1]);
  expect(robot.values("Mission.GoalCount")).toEqual([0, 2]);
  expect(robot.values("Mission.MissionType")).toEqual(["", "CART_TYPE_TRAVERSE"]);
  expect(robot.values("Mission.Owner")).toEqual(["", "api"]);
  expect(robot.values("Mission.CurrentMissionIndex")).toEqual([-1, 0]);
  expect(robot.values("Mission.SequenceNumber")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a mission sent through a slot, followed over both protocols to its end", async () => {
  const answers = ["Outcome", "ErrorId", "ErrorText", "AcceptedId", "RejectedId", "DoneId", "MissionId"];
  const ownMission = ["MissionState", "GoalIndex", "Arrived"];
  const tags = [...answers, ...ownMission].map((name) => `MissionSlot.${name}`);
  const robot = await followRobot(harness, clock, "cart-02", tags);
  const before = robot.missionLines().length;
  const ticket = await order(robot, "MissionSlot", { Operation: int32(1), Destination: text("Station D") });
  const isOver = () => robot.values("MissionSlot.MissionState").at(-1) === SUCCEEDED;
  await robot.live("the mission has ended", isOver);

  expect(robot.missionLines().slice(before)).toEqual([
    "0.00 good STATE_RUNNING goal 0 Station D STATUS_NAVIGATING",
    "8.47 good STATE_RUNNING goal 0 Station D STATUS_DOCKING",
    "10.47 good STATE_SUCCEEDED goal 0 Station D STATUS_ARRIVED",
  ]);
  const missionId = String(await harness.plc.value(robot.tag("Mission.MissionId")));
  await endTold("cart-02", missionId);
  expect(robot.transitions(missionId)).toEqual(["null → STATE_RUNNING", "STATE_RUNNING → STATE_SUCCEEDED"]);
  expect(robot.values("MissionSlot.Outcome").at(0)).toBe(0);
  expect(robot.values("MissionSlot.Outcome").at(-1)).toBe(3);
  expect(robot.values("MissionSlot.ErrorId")).toEqual([0]);
  expect(robot.values("MissionSlot.ErrorText")).toEqual([""]);
  expect(robot.values("MissionSlot.AcceptedId")).toEqual([0, ticket]);
  expect(robot.values("MissionSlot.RejectedId")).toEqual([0]);
  expect(robot.values("MissionSlot.DoneId")).toEqual([0, ticket]);
  expect(robot.values("MissionSlot.MissionId")).toEqual(["", missionId]);
  expect(robot.values("MissionSlot.MissionState")).toEqual([0, RUNNING, SUCCEEDED]);
  expect(robot.values("MissionSlot.GoalIndex")).toEqual([0]);
  expect(robot.values("MissionSlot.Arrived")).toEqual([false, true]);
  expect(robot.values("Mission.State")).toEqual([0, RUNNING, SUCCEEDED]);
});

test("the accepted ticket written again in every cycle sends nothing again", async () => {
  const robot = await followRobot(harness, clock, "cart-03");
  const ticket = await order(robot, "MissionSlot", { Operation: int32(1), Destination: text("Home 3") });
  for (let cycle = 0; cycle < 20; cycle += 1) {
    expect(await harness.plc.write([robot.tag("MissionSlot.RequestId"), int32(ticket)])).toEqual(["Good"]);
  }
  expect(await harness.plc.write([robot.tag("MissionSlot.RequestId"), int32(ticket - 1)])).toEqual(["Good"]);
  expect(await harness.plc.value(robot.tag("MissionSlot.RejectedId"))).toBe(ticket - 1);
  const sent = harness.record("cart-03").filter(({ fact }) => fact.what === "received");
  expect(sent).toHaveLength(1);
});

test("a mission is paused, resumed and canceled over MQTT", async () => {
  const robot = await followRobot(harness, clock, "serve-01");
  const update = (id: string, missionId: string, command: string) =>
    harness.mqtt.send("UpdateMission", id, { robotId: "serve-01", missionCommand: { missionId, command } });
  const created = await harness.mqtt.send("CreateMission", "to-table-3", navigate("serve-01", "Table 3"));
  const missionId = String(created.response?.mission_id);

  for (const [id, command, state] of [
    ["pause", "COMMAND_PAUSE", PAUSED],
    ["resume", "COMMAND_RESUME", RUNNING],
    ["cancel", "COMMAND_CANCEL", CANCELED],
  ] as const) {
    const reply = await update(id, missionId, command);
    expect(reply).toMatchObject({ outcome: "succeeded", code: "OK", duplicate: false });
    await robot.live(`state ${state}`, () => robot.values("Mission.State").at(-1) === state);
  }
  await endTold("serve-01", missionId);
  expect(robot.transitions(missionId)).toEqual([
    "null → STATE_RUNNING",
    "STATE_RUNNING → STATE_PAUSED",
    "STATE_PAUSED → STATE_RUNNING",
    "STATE_RUNNING → STATE_CANCELED",
  ]);
  expect(robot.values("Mission.State")).toEqual([0, RUNNING, PAUSED, RUNNING, CANCELED]);

  // The service refuses to resume what is over: its own code and words come through.
  const late = await update("resume-late", missionId, "COMMAND_RESUME");
  expect(late).toMatchObject({ outcome: "refused", code: "FAILED_PRECONDITION", response: null });
  expect(late.message).not.toBe("");
});

test("a command that is asked again has its recorded outcome, and was sent once", async () => {
  const ask = () => harness.mqtt.send("CreateMission", "twice", navigate("base-01", "Home 4"));
  const first = await ask();
  expect(first).toMatchObject({ outcome: "succeeded", duplicate: false });
  expect(await ask()).toEqual({ ...first, duplicate: true });
  const sent = harness.record("base-01").filter(({ fact }) => fact.what === "received");
  expect(sent).toHaveLength(1);
});

test("a conveyor is started through its slot, and stopped over MQTT", async () => {
  const tags = ["Outcome", "DoneId", "ErrorId"].map((name) => `ConveyorSlot.${name}`);
  const belt = ["Operation", "Rolling", "Loaded"].map((name) => `Conveyors.1.${name}`);
  const robot = await followRobot(harness, clock, "cart-03", [...tags, ...belt]);
  const topic = "robots/cart-03/conveyors/1";
  const from = harness.mqtt.received.entries.length;
  const ticket = await order(robot, "ConveyorSlot", { ConveyorIndex: int32(1), MotorCommand: int32(2) });
  const shows = (name: string, value: unknown) =>
    robot.shown.first(`${name} = ${value}`, (one) => one.tag === robot.tag(name) && one.value === value);
  await shows("ConveyorSlot.DoneId", ticket);
  expect(await harness.plc.value(robot.tag("ConveyorSlot.Outcome"))).toBe(3);
  await shows("Conveyors.1.Rolling", true);
  await harness.mqtt.on(
    topic,
    (message) => message.includes('"operation_state":"OPERATION_STATE_ROLLING"'),
    from,
  );

  clock.advance(4_000);
  await shows("Conveyors.1.Loaded", true);
  const loaded = '"payload_state":"PAYLOAD_STATE_LOADED"';
  await harness.mqtt.on(topic, (message) => message.includes(loaded), from);

  const stop = { robotId: "cart-03", commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }] };
  const reply = await harness.mqtt.send("ControlConveyor", "stop", stop);
  expect(reply).toMatchObject({ outcome: "succeeded", code: "OK", response: {} });
  const stopped = await harness.mqtt.on(
    topic,
    (message) => message.includes('"operation_state":"OPERATION_STATE_STOP"') && message.includes(loaded),
    from,
  );
  expect((JSON.parse(stopped.text) as { state: unknown }).state).toEqual({
    index: 1,
    operation_state: "OPERATION_STATE_STOP",
    payload_state: "PAYLOAD_STATE_LOADED",
    health_state: "HEALTH_STATE_OK",
    installation_state: "INSTALLATION_STATE_INSTALLED",
  });
  await harness.plc.shows(robot.tag("Conveyors.1.Rolling"), false);
  expect(robot.values("ConveyorSlot.ErrorId")).toEqual([0]);
});

test.skipIf(!haveMosquittoSub)("mosquitto_sub hears what mqtt.js hears", async () => {
  const robot = await followRobot(harness, clock, "serve-02");
  const topic = "robots/serve-02/mission";
  const sub = await followWithMosquitto(harness.mqttUrl, `fleetgate/e2e/${topic}`);
  try {
    await harness.mqtt.send("CreateMission", "to-table-1", navigate("serve-02", "Table 1"));
    await robot.live("the mission has ended", () => robot.values("Mission.State").at(-1) === SUCCEEDED);
    const last = harness.mqtt.texts(topic).at(-1);
    await sub.lines.first("the last message", (line) => line === last);
    // A new subscriber begins with the message that is retained.
    const [retained] = sub.lines.entries;
    const received = harness.mqtt.texts(topic);
    expect(sub.lines.entries).toEqual(received.slice(received.lastIndexOf(retained ?? "")));
  } finally {
    await sub.close();
  }
});
