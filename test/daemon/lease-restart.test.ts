import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mqtt from "mqtt";
import { afterEach, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { type Daemon, startDaemon, writeConfiguration } from "./daemon.ts";

const ROBOT = "cart-01";
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function start(config: string): Daemon {
  const daemon = startDaemon(config);
  cleanups.push(() => daemon.kill());
  return daemon;
}

test("a lease outlives kill -9; one whose station the next configuration does not have ends, and MQTT is told", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-lease-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  // The robot is on its way to the station for as long as the test takes.
  const simulator = await startSimulator({ timeFactor: 1 });
  cleanups.push(() => simulator.stop());
  const broker = await startPlantBroker();
  cleanups.push(() => broker.close());
  const ear = await listenMqtt(broker.url, "hmi", "fleetgate/lease");
  cleanups.push(() => ear.close());
  const client = await mqtt.connectAsync(broker.url, { reconnectPeriod: 0 });
  cleanups.push(() => client.endAsync(true));
  const config = await writeConfiguration(folder, "lease", simulator.endpoints, [ROBOT], broker.url);
  const without = await readFile(config, "utf8");
  const stations = { dock: { destinations: ["Station A"], heartbeatMs: 600_000 } };
  await writeFile(config, stringify({ ...parse(without), stations }), { mode: 0o600 });
  const topic = `robots/${ROBOT}/event/lease`;
  const good = (from: number) => ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);

  const first = start(config);
  await good(0);
  const navigateMission = { goal: { destinationId: "Station A" } };
  const request = { robotId: ROBOT, mission: { baseMission: { navigateMission } } };
  expect(await ear.send("CreateMission", "go", request)).toMatchObject({ outcome: "succeeded" });
  await ear.on(`robots/${ROBOT}/mission`, (state) => state.includes('"STATE_RUNNING"'));
  const asked = JSON.stringify({ id: "ask", station: "dock", robot_id: ROBOT });
  await client.publishAsync("fleetgate/lease/clients/hmi/command/LeaseRobot", asked, { qos: 1 });
  expect(JSON.parse(await ear.replyText("ask"))).toMatchObject({ outcome: "succeeded" });
  await ear.on(topic, (text) => text.includes('"asked"'));
  // Its outcome is on the disk when it is told, and so is what was recorded before it.
  expect(await ear.send("AppendMission", "later", request)).toMatchObject({ outcome: "succeeded" });
  await first.kill();

  const second = start(config);
  await good(ear.received.entries.length);
  const beat = JSON.stringify({ id: "beat", station: "dock", counter: 1 });
  await client.publishAsync("fleetgate/lease/clients/hmi/command/Heartbeat", beat, { qos: 1 });
  expect(JSON.parse(await ear.replyText("beat"))).toMatchObject({ response: { leased: [ROBOT] } });
  await second.kill();

  await writeFile(config, without, { mode: 0o600 });
  const third = start(config);
  await ear.on(topic, (text) => text.includes('"not_configured"'));
  const owner = { station: "dock", protocol: "mqtt", user: "hmi" };
  // A crash may repeat an event, with its id.
  const events = new Map(ear.texts(topic).map((text) => [JSON.parse(text).event_id, JSON.parse(text)]));
  expect([...events.values()]).toMatchObject([
    { ...owner, to: "leased", by: { protocol: "mqtt", user: "hmi" } },
    { ...owner, to: "free", by: null },
  ]);
  expect(await third.stop()).toBe(0);
}, 60_000);
