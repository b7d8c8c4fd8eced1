import mqtt, { type MqttClient } from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type E2eHarness, openE2eHarness } from "../e2e/e2e-harness.ts";
import { messageFaults } from "../support/message-schemas.ts";
import { topics } from "./page.ts";

/** No alarm of the gateway itself is raised within the time of this test. */
const LATE = "event/alarm";
const CLIENT = "e2e";
const AT_STATION = "cart-01";
const OTHER = "cart-03";

let harness: E2eHarness;
let sender: MqttClient;
beforeAll(async () => {
  const stations = { dock: { destinations: ["Station A"], heartbeatMs: 60_000 } };
  harness = await openE2eHarness({}, { stations, mqtt: { tags: true } });
  sender = await mqtt.connectAsync(harness.mqttUrl, { reconnectPeriod: 0 }, false);
  for (const robot of [AT_STATION, OTHER])
    await harness.mqtt.on(`robots/${robot}/availability`, (text) => text === "good");
});
afterAll(async () => {
  await sender.endAsync(true);
  await harness.close();
});

/** Publishes under the client's own name, and waits for the reply. */
async function ask(topic: string, id: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const text = JSON.stringify({ id, ...fields });
  await sender.publishAsync(`fleetgate/e2e/clients/${CLIENT}/${topic}`, text, { qos: 1 });
  expect(JSON.parse(await harness.mqtt.replyText(id)), `${topic} ${text}`).toMatchObject({
    outcome: "succeeded",
  });
}

test("every topic of docs/scada.md carries messages", async () => {
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
  await harness.mqtt.send("CreateMission", "mission", { robotId: AT_STATION, mission });
  const tasks = [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: "ST-A" }];
  await harness.mqtt.send("AddTaskChain", "chain", { taskChain: { areaId: 1, amrId: 102 }, tasks });
  await harness.mqtt.send("GetMap", "map", { mapId: 1 });
  await harness.mqtt.send("DeleteWebhook", "webhook", { id: "w-1" });
  const { control } = harness.simulator();
  control.happen({ kind: "conveyor-payload", robotId: OTHER, index: 1, loaded: true });
  control.happen({ kind: "conveyor-health", robotId: OTHER, index: 1, ok: false });

  await harness.mqtt.on(`robots/${AT_STATION}/mission`, (state) => state.includes('"STATE_RUNNING"'));
  const robot = { robot_id: AT_STATION };
  await ask("station/dock/ask", "ask", robot);
  await ask("station/dock/beat", "beat", {});
  await ask("station/dock/release", "release", robot);
  await ask("station/dock/ask", "ask again", robot);
  await ask("station/dock/override", "override", robot);
  await ask(`hold/${OTHER}`, "hold one", { hold: true });
  await ask("hold", "hold all", { hold: true });

  const { text } = await harness.mqtt.on(`robots/${OTHER}/alarms`, (alarms) => alarms.includes('"count":1'));
  await ask("alarm/ack", "ack", { alarm_id: JSON.parse(text).alarms[0].id });
  await ask("alarm/service", "service", { robot_id: OTHER, out_of_service: true });

  // The beginning of every topic of a robot is no topic itself; only a full outbox drops events.
  const isShown = (topic: string) =>
    topic !== "robots/<id>" && topic !== LATE && !topic.endsWith("event/dropped");
  const listed = topics("docs/scada.md").filter(isShown);
  expect(listed.length).toBeGreaterThan(25);
  for (const topic of listed) {
    const pattern = new RegExp(`^${topic.replace(/<[^>]+>/g, "[^/]+").replace("…", ".+")}$`);
    await harness.mqtt.heard.first(topic, (message) => pattern.test(message.topic));
  }
  for (const { topic, text } of harness.mqtt.heard.entries) expect(messageFaults(topic, text)).toEqual([]);
});
