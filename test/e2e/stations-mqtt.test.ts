import mqtt, { type MqttClient } from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";
import { int32, text } from "./plc.ts";

const ROBOT = "cart-01";
const [NAVIGATE, OVERRIDE] = [1, 52] as const;
let harness: E2eHarness;
let client: MqttClient;
let asked = 0;

/** The world stands still: a robot that heads for the station does so until the tests are over. */
beforeAll(async () => {
  harness = await openE2eHarness(
    { clock: createManualClock(Date.now()), timeFactor: 1 },
    { stations: { dock: { destinations: ["Station A"], heartbeatMs: 60_000 } } },
  );
  client = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 });
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterAll(async () => {
  await client.endAsync(true);
  await harness.close();
});

async function tell(act: string): Promise<Record<string, unknown>> {
  asked += 1;
  const id = `s${asked}`;
  const topic = `fleetgate/e2e/clients/e2e/command/${act}`;
  await client.publishAsync(topic, JSON.stringify({ id, station: "dock", robot_id: ROBOT }), { qos: 1 });
  return JSON.parse(await harness.mqtt.replyText(id));
}

/** Writes the parameters of a slot and its ticket; the outcome when it is done. */
async function order(slot: string, parameters: Readonly<Record<string, ReturnType<typeof text>>>) {
  const ticket = await harness.plc.nextId(`${slot}.NextId`);
  await harness.plc.write(
    ...Object.entries(parameters).map(([name, value]) => [`${slot}.${name}`, value] as const),
    [`${slot}.RequestId`, int32(ticket)],
  );
  await harness.plc.shows(`${slot}.DoneId`, ticket);
  return Promise.all(["Outcome", "ErrorId", "ErrorText"].map((name) => harness.plc.value(`${slot}.${name}`)));
}

test("a client of MQTT leases a robot against a PLC, until an engineer at the PLC ends it", async () => {
  expect(await tell("LeaseRobot")).toMatchObject({ outcome: "refused", code: "NOT_AT_STATION" });
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
  const sent = await harness.mqtt.send("CreateMission", "to-dock", { robotId: ROBOT, mission });
  expect(sent).toMatchObject({ outcome: "succeeded" });
  await harness.mqtt.on(`robots/${ROBOT}/mission`, (state) => state.includes('"STATE_RUNNING"'));
  expect(await tell("LeaseRobot")).toMatchObject({ outcome: "succeeded", response: { leased: [ROBOT] } });

  const refused = await order(`Robots.${ROBOT}.MissionSlot`, {
    Operation: int32(NAVIGATE),
    Destination: text("Station B"),
  });
  expect(refused).toEqual([4, 1016, `robot ${ROBOT} is leased to station dock for mqtt "e2e"`]);

  const ended = await order("Stations.dock.Slot", { Robot: text(ROBOT), Operation: int32(OVERRIDE) });
  expect(ended).toEqual([3, 0, ""]);
  expect(await tell("ReleaseRobot")).toMatchObject({ outcome: "succeeded", response: { leased: [] } });
  expect(await tell("LeaseRobot")).toMatchObject({ outcome: "succeeded" });
  expect(await tell("LeaseRobot")).toMatchObject({ outcome: "succeeded" });
  expect(await tell("ReleaseRobot")).toMatchObject({ outcome: "succeeded" });

  const topic = `robots/${ROBOT}/event/lease`;
  const last = await harness.mqtt.on(topic, (event) => event.includes('"released"'));
  expect(last.retain).toBe(false);
  const by = { protocol: "mqtt", user: "e2e" };
  const told = harness.mqtt.texts(topic).map((event) => JSON.parse(event));
  expect(told).toMatchObject([
    { from: "free", to: "leased", reason: "asked", by },
    { from: "leased", to: "free", reason: "overridden", by: { protocol: "opcua", user: expect.any(String) } },
    { from: "free", to: "leased", reason: "asked", by },
    { from: "leased", to: "free", reason: "released", by },
  ]);
  for (const event of told) expect(event).toMatchObject({ robot_id: ROBOT, station: "dock", ...by });
  expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(4);
});
