import { afterAll, beforeAll, expect, test } from "vitest";
import { webhookEventFromJson } from "../../../src/fleet/translate/webhook-event.ts";
import { batteryText, missionText } from "../../../src/models/robot.ts";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { type Receiver, startReceiver } from "../../simulator/webhooks/receiver.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

/** What the gateway makes of the service's deliveries is what the service delivered, byte for byte. */
let receiver: Receiver;
let simulator: RunningSimulator;

beforeAll(async () => {
  receiver = await startReceiver();
  simulator = await startSimulator({
    unsafeWebhookTargets: { trustedCa: receiver.ca },
  });
  const client = await simulator.client();
  for (const eventType of ["mission", "battery"]) {
    await client.call(FleetService.method.createWebhook, {
      url: receiver.url,
      eventType,
      selector: { selector: { case: "locationIds", value: { ids: ["plant-1"] } } },
    });
  }
});
afterAll(async () => {
  await simulator.stop();
  await receiver.close();
});

function rendered(body: string): string {
  const event = webhookEventFromJson(body, 0);
  const state =
    event.aspect === "mission"
      ? missionText(event.queue, event.stamp)
      : batteryText(event.battery, event.stamp);
  return `{"robot_id":${JSON.stringify(event.robotId)},"state":${state}}`;
}

const goals = [
  { destinationId: "Station D" },
  { pose: { xMeters: 14.1, yMeters: 4.2, headingRadians: -0.1 } },
];

test.each([
  ["cart-01", { cartMission: { traverseMission: { goals } } }],
  ["serve-01", { serveMission: { deliveryMission: { goals: [{ destinationId: "Table 2" }] } } }],
  ["base-01", { baseMission: { navigateMission: { goal: goals[1] } } }],
])("every delivery of a mission of %s", async (robotId, mission) => {
  const made = await simulator.rest("POST", "/v1/mission/create", { robotId, mission });
  expect(made.status, made.text).toBe(200);
  const { missionId } = made.json() as { missionId: string };
  const finish = { robotId, missionCommand: { missionId, command: "COMMAND_CANCEL" } };
  const ended = `"mission_id":"${missionId}","state":"STATE_CANCELED"`;
  for (let body = "", isSent = false; !body.includes(ended); isSent = true) {
    ({ body } = await receiver.next());
    expect(rendered(body)).toBe(body);
    if (!isSent) expect((await simulator.rest("POST", "/v1/mission/update", finish)).status).toBe(200);
  }
});

test("every delivery of a battery", async () => {
  simulator.control.happen({ kind: "battery", robotId: "cart-02", percent: 17 });
  for (let body = ""; !body.includes('"charge_percent":17'); ) {
    ({ body } = await receiver.next());
    expect(rendered(body)).toBe(body);
  }
});

test.each([
  ["no JSON", "{"],
  ["no object", "[]"],
  ["no robot", '{"state":{"missions":[]}}'],
  ["no state", '{"robot_id":"r1"}'],
  ["a state of no event", '{"robot_id":"r1","state":{}}'],
  ["an unset battery", '{"robot_id":"r1","state":{"battery_state":null}}'],
  ["a mission that is none", '{"robot_id":"r1","state":{"missions":[7]}}'],
])("a body with %s is refused", (_, body) => {
  expect(() => webhookEventFromJson(body, 0)).toThrow(/should be|is of no event/);
});

test("what a newer service adds is left out, and names nobody knows are unknown", () => {
  const body =
    '{"robot_id":"r1","state":{"metadata":null,"new":1,"missions":[{"mission_id":"m","state":"STATE_NEW"}],"current_mission_index":0}}';
  expect(webhookEventFromJson(body, 5)).toMatchObject({
    aspect: "mission",
    robotId: "r1",
    stamp: { sequence: null, sourceTimeMs: null, receivedAtMs: 5 },
    queue: { missions: [{ missionId: "m", state: "STATE_UNKNOWN" }], currentMissionIndex: 0 },
  });
});

test("a delivery of more missions or goals than are shown is refused before it is read", () => {
  const of = (missions: string) => `{"robot_id":"r1","state":{"missions":[${missions}]}}`;
  const empty = (count: number) => new Array<string>(count).fill("{}").join(",");
  for (const missions of [empty(80_000), `{"goals":[${empty(80_000)}]}`]) {
    expect(() => webhookEventFromJson(of(missions), 0)).toThrow("missions are too many");
  }
  expect(webhookEventFromJson(of(`{"goals":[${empty(200)}]},${empty(100)}`), 0)).toMatchObject({
    queue: { missions: { length: 101 } },
  });
});
