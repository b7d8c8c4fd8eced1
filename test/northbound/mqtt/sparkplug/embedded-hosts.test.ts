import mqtt, { type MqttClient } from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createSparkplugTopics } from "../../../../src/northbound/mqtt/sparkplug/topics.ts";
import { createLive } from "../../../../src/platform/live.ts";
import { newBroker } from "../link-harness.ts";
import { base, embedded, recordingCommander, start } from "../mqtt-harness.ts";
import { command, newNode, sparkplugOptions } from "./sparkplug-harness.ts";

const NCMD = "spBv1.0/plant/NCMD/fleet";
const users = ["anna", "bert"].map((name) => ({ name, password: name }));
let broker: EmbeddedBroker;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  const options = { ...embedded, users: createLive(users) };
  const hosts = { ...sparkplugOptions, primaryHost: "scada" };
  broker = newBroker(options, base, createSparkplugTopics(hosts, true).fromHost);
  cleanups.push(await start(broker));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function logIn(username?: string): Promise<MqttClient> {
  const identity = username === undefined ? {} : { username, password: username };
  const url = `mqtt://127.0.0.1:${broker.port()}`;
  const client = await mqtt.connectAsync(url, { ...identity, reconnectPeriod: 0 }, false);
  cleanups.push(() => client.endAsync(true));
  return client;
}

test("every host may announce itself, and only the state of the primary one is kept", async () => {
  const client = await logIn("anna");
  const kept = { qos: 1, retain: true } as const;
  for (const topic of ["spBv1.0/STATE/scada", "spBv1.0/STATE/other", "spBv1.0/plant/DCMD/fleet/r1", NCMD])
    await client.publishAsync(topic, "{}", kept);
  expect(client.connected).toBe(true);
  expect(await broker.retained()).toEqual(["spBv1.0/STATE/scada"]);
});

test("a command has the user of its client, and none may take the name of another", async () => {
  const commander = recordingCommander();
  const connection = await newNode({
    ...{ openBroker: broker.open, commander, sparkplug: { commands: true } },
  }).connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [], events: [] });
  const request = (id: string) => {
    const drive = { operation: "CreateMission", expires_in_ms: 10_000, request: { robot_id: "r1" } };
    return command([{ name: "Commands/Request", type: "String", value: JSON.stringify({ id, ...drive }) }]);
  };
  const [anna, bert, open] = [await logIn("anna"), await logIn("bert"), await logIn()];
  for (const [id, client] of [
    ["a", anna],
    ["b", bert],
    ["c", open],
  ] as const)
    await client.publishAsync(NCMD, request(id));
  await expect.poll(() => commander.commands.length).toBe(3);
  expect(commander.commands.map(({ requestId, source }) => `${requestId} ${source.name}`).sort()).toEqual([
    "a anna",
    "b bert",
    "c sparkplug:plant",
  ]);
  const ended = new Promise<void>((resolve) => bert.once("close", resolve));
  bert.publish(`${NCMD}/anna`, request("d"));
  await ended;
  expect(commander.commands).toHaveLength(3);
});
