import { create } from "@bufbuild/protobuf";
import mqtt from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { text } from "./plc.ts";

const ROBOT = "cart-01";
const AMR_ID = 101;
const on = { dataType: "Boolean", value: true } as const;
const off = { dataType: "Boolean", value: false } as const;

let harness: E2eHarness;
let requests = 0;

beforeAll(async () => {
  harness = await openE2eHarness({ timeFactor: 1 });
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterAll(() => harness.close());

const tag = (name: string) => `Robots.${ROBOT}.${name}`;

function send(operation: string, request: object) {
  requests += 1;
  return harness.mqtt.send(operation, `h${requests}`, request);
}

const toStation = (destinationId: string) => ({
  robotId: ROBOT,
  mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
});

/** Publishes about a hold over MQTT, and gives the answer. */
async function hold(act: string, fields: object): Promise<unknown> {
  const client = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 });
  requests += 1;
  const id = `h${requests}`;
  await client.publishAsync(`fleetgate/e2e/clients/e2e/command/${act}`, JSON.stringify({ id, ...fields }), {
    qos: 1,
  });
  await client.endAsync(true);
  return JSON.parse(await harness.mqtt.replyText(id));
}

/** What the service did to missions of the cart, in order. */
const missionStates = (missionId: string) =>
  harness
    .record(ROBOT)
    .flatMap(({ fact }) => (fact.what === "mission" && fact.missionId === missionId ? [fact.to] : []));

test("a PLC's hold stops a mission, refuses what moves, and outdoes the touchscreen; nothing is resumed", async () => {
  const from = harness.mqtt.received.entries.length;
  const sent = await send("CreateMission", toStation("Station A"));
  const missionId = String(sent.response?.mission_id);
  await harness.plc.shows(tag("Mission.StateText"), "STATE_RUNNING");

  expect(await harness.plc.write([tag("Hold"), on])).toEqual(["Good"]);
  await harness.plc.shows(tag("Mission.StateText"), "STATE_PAUSED");
  for (const [name, value] of [
    ["Hold", true],
    ["Held", true],
    ["HoldStored", true],
    ["ReadyForCommand", false],
  ] as const)
    await harness.plc.shows(tag(name), value);
  await harness.plc.shows(tag("NotReadyReason"), "held by opcua:anonymous");
  const isHeld = (payload: string) =>
    JSON.parse(payload).held === true && JSON.parse(payload).stored === true;
  const shown = await harness.mqtt.on(`robots/${ROBOT}/hold`, isHeld, from);
  expect(JSON.parse(shown.text)).toMatchObject({ robot_id: ROBOT, by: ["opcua:anonymous"] });
  const event = await harness.mqtt.on(`robots/${ROBOT}/event/hold`, undefined, from);
  expect(JSON.parse(event.text)).toMatchObject({ from: "free", to: "held", user: "anonymous" });

  const resume = { robotId: ROBOT, missionCommand: { missionId, command: "COMMAND_RESUME" } };
  expect(await send("UpdateMission", resume)).toMatchObject({
    outcome: "refused",
    code: "HELD",
    message: `opcua:anonymous holds robot ${ROBOT}`,
  });
  expect(await send("AppendMission", toStation("Station B"))).toMatchObject({ code: "HELD" });
  const cancel = { robotId: ROBOT, missionCommand: { missionId, command: "COMMAND_CANCEL" } };
  expect(await send("UpdateMission", cancel)).toMatchObject({ outcome: "succeeded" });

  // Somebody at the touchscreen: paused as soon as it is seen.
  const goal = { goal: { case: "destinationId", value: "Station B" } } as const;
  const mission = create(MissionSchema, {
    mission: { case: "baseMission", value: { mission: { case: "navigateMission", value: { goal } } } },
  });
  const other = harness.simulator().control.startMission(ROBOT, "touchscreen", mission);
  await harness.plc.shows(tag("Mission.MissionId"), other);
  await harness.plc.shows(tag("Mission.StateText"), "STATE_PAUSED");

  expect(await harness.plc.write([tag("Hold"), off])).toEqual(["Good"]);
  await harness.plc.shows(tag("Held"), false);
  await harness.plc.shows(tag("ReadyForCommand"), true);
  expect(await harness.plc.value(tag("Mission.StateText"))).toBe("STATE_PAUSED");
  expect(missionStates(other)).toEqual(["default", "running", "paused"]);
  const cancelOther = { robotId: ROBOT, missionCommand: { missionId: other, command: "COMMAND_CANCEL" } };
  expect(await send("UpdateMission", cancelOther)).toMatchObject({ outcome: "succeeded" });
});

test("a hold over MQTT stops a conveyor and a task chain; an engineer at a PLC lifts it", async () => {
  const roll = { robotId: ROBOT, commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] };
  expect(await send("ControlConveyor", roll)).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(tag("Conveyors.1.Rolling"), true);
  const [chain] = createCatalogue().get("AddTaskChain")?.examples ?? [];
  expect(await send("AddTaskChain", chain?.request as object)).toMatchObject({ outcome: "succeeded" });
  await harness.plc.shows(tag("Position.StateId"), "ROBOT_STATE_EXECUTING");

  const answer = await hold("Hold", { robot_id: ROBOT, hold: true });
  expect(answer).toMatchObject({ outcome: "succeeded", response: { held: true, by: ["mqtt:e2e"] } });
  await harness.plc.shows(tag("Conveyors.1.Rolling"), false);
  await harness.plc.shows(tag("Position.StateId"), "ROBOT_STATE_PAUSED");
  expect(await send("ResumeRobot", { amrId: AMR_ID })).toMatchObject({ code: "HELD" });
  expect(await harness.plc.write([tag("HoldRelease"), text("mqtt:e2e")])).toEqual(["Good"]);
  await harness.plc.shows(tag("Held"), false);
  expect(await send("ResumeRobot", { amrId: AMR_ID })).toMatchObject({ outcome: "succeeded" });
});

test("a hold on all robots is shown at each and under Gateway, and refuses moves of every robot", async () => {
  expect(await harness.plc.write(["Gateway.Hold", on])).toEqual(["Good"]);
  await harness.plc.shows("Gateway.Held", true);
  await harness.plc.shows("Robots.cart-02.Held", true);
  const retained = await harness.mqtt.on("hold", (payload) => JSON.parse(payload).held === true);
  expect(JSON.parse(retained.text)).toMatchObject({ by: ["opcua:anonymous"] });
  expect(await send("CreateMission", { ...toStation("Station A"), robotId: "cart-02" })).toMatchObject({
    code: "HELD",
    message: "opcua:anonymous holds all robots",
  });
  expect(await hold("HoldAll", { hold: false, user: "opcua:anonymous" })).toMatchObject({
    response: { held: false },
  });
  await harness.plc.shows("Robots.cart-02.Held", false);
});
