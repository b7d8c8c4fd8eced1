import mqtt from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createSparkplugTopics } from "../../../../src/northbound/mqtt/sparkplug/topics.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { newBroker } from "../link-harness.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { base, embedded, external, recordingCommander, start } from "../mqtt-harness.ts";
import { command, type Host, newNode, openHost, sparkplugOptions } from "./sparkplug-harness.ts";

const NCMD = "spBv1.0/plant/NCMD/fleet";
let broker: EmbeddedBroker;
let host: Host;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  broker = newBroker(embedded, base, createSparkplugTopics(sparkplugOptions, true).fromHost);
  cleanups.push(await start(broker));
  host = await openHost(`mqtt://127.0.0.1:${broker.port()}`);
  cleanups.push(() => host.client.endAsync(true));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const request = (id: string) => {
  const drive = { operation: "CreateMission", expires_in_ms: 10_000, request: { robot_id: "r1" } };
  return { name: "Commands/Request", type: "String", value: JSON.stringify({ id, ...drive }) } as const;
};
const rebirth = { name: "Node Control/Rebirth", type: "Boolean", value: true } as const;

/** A node with its connection, before its birth. */
async function connected() {
  const commander = recordingCommander();
  const warned: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
  const link = newNode({ openBroker: broker.open, commander, log, sparkplug: { commands: true } });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  const answer = (id: string) =>
    host.receive(({ metrics }) => metrics.some(({ value }) => String(value).startsWith(`{"id":"${id}"`)));
  const write = (payload: Buffer, topic = NCMD) => host.client.publishAsync(topic, payload, { qos: 1 });
  const ignored = () => link.health().figures?.commandsUnreadable;
  return { commander, connection, link, warned, write, answer, ignored };
}

async function born() {
  const node = await connected();
  await node.connection.write({ changes: [], events: [] });
  await host.on("NBIRTH");
  return node;
}

const births = () => host.seen.filter(({ type }) => type === "NBIRTH");

/** A metric with the datatype of one type, and the value of another. */
function declared(type: number, metric: Parameters<typeof command>[0][number]): Buffer {
  const bytes = command([metric]);
  const own = bytes.lastIndexOf(Buffer.from([0x20, metric.type === "String" ? 12 : 11]));
  bytes[own + 1] = type;
  return bytes;
}

test.each([
  ["another metric before the request", () => [{ name: "Foo", type: "String", value: "" }, request("a")]],
  ["another metric behind it", () => [request("a"), { name: "Foo", type: "String", value: "" }]],
  ["a rebirth of another type", () => [request("a"), { ...rebirth, type: "Int32", value: 1 }]],
  ["a request of the past", () => [{ ...request("a"), isHistorical: true }]],
  ["more than 100 requests", () => Array.from({ length: 150 }, (_, index) => request(`a${index}`))],
])("a message with %s is ignored as a whole", async (_, metrics) => {
  const { commander, write, answer, ignored, warned } = await born();
  await write(command(metrics() as never));
  await write(command([request("after")]));
  await answer("after");
  expect(commander.commands.map(({ requestId }) => requestId)).toEqual(["after"]);
  expect(ignored()).toBe(1);
  expect(warned).toHaveLength(1);
});

const INT32 = 3;

test.each([
  ["a request that is declared as Int32", () => declared(INT32, request("a"))],
  ["a rebirth that is declared as Int32", () => declared(INT32, rebirth)],
  ["a rebirth with a number", () => command([{ ...rebirth, type: "Int32", value: 1 } as never])],
  ["a rebirth with a text", () => command([{ ...rebirth, type: "String", value: "true" } as never])],
  ["a rebirth with null", () => command([{ ...rebirth, value: null } as never])],
  ["a rebirth of the past", () => command([{ ...rebirth, isHistorical: true } as never])],
  ["nothing", () => Buffer.alloc(0)],
  ["no metric", () => command([])],
])("a message with %s is ignored, counted and logged", async (_, payload) => {
  const { commander, write, answer, ignored, warned } = await born();
  await write(payload());
  await write(command([request("after")]));
  await answer("after");
  expect(commander.commands).toHaveLength(1);
  expect(ignored()).toBe(1);
  expect(warned).toHaveLength(1);
  expect(births()).toHaveLength(1);
});

test("several requests of one message are commands, and a rebirth may stand with them", async () => {
  const { commander, write, answer, ignored } = await born();
  await write(command([{ ...rebirth, value: false }, request("a"), request("b"), rebirth]));
  await answer("b");
  expect(commander.commands).toHaveLength(2);
  expect(ignored()).toBe(0);
  await host.receive(() => births().length === 2);
});

test("a request that comes before the birth is ignored, counted and logged", async () => {
  const { commander, connection, write, answer, ignored, warned } = await connected();
  await write(command([request("early")]));
  await expect.poll(ignored).toBe(1);
  expect(warned).toMatchObject([{ sender: "sparkplug:plant" }]);
  await connection.write({ changes: [], events: [] });
  await write(command([request("after")]));
  await answer("after");
  expect(commander.commands).toHaveLength(1);
});

test("the log names the topic of a command for a device, whose sender is not known", async () => {
  const { write, answer, warned } = await born();
  await write(command([rebirth]), "spBv1.0/plant/DCMD/fleet/r1");
  await write(command([request("after")]));
  await answer("after");
  expect(warned).toEqual([{ topic: "spBv1.0/plant/DCMD/fleet/r1", reason: expect.any(String) }]);
});

test.skipIf(!haveMosquitto)("the birth answers a request that the broker has kept", async () => {
  const mosquitto = await startMosquitto();
  cleanups.push(() => mosquitto.stop());
  const client = await mqtt.connectAsync(mosquitto.url, { reconnectPeriod: 0 }, false);
  cleanups.push(() => client.endAsync(true));
  await client.publishAsync(NCMD, command([request("kept")]), { qos: 1, retain: true });
  const follower = await openHost(mosquitto.url);
  cleanups.push(() => follower.client.endAsync(true));
  const commander = recordingCommander();
  const options = { broker: external(mosquitto.url) };
  const link = newNode({ options, commander, sparkplug: { commands: true } });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [], events: [] });
  const answered = await follower.receive(({ metrics }) =>
    metrics.some(({ value }) => String(value).startsWith('{"id":"kept"')),
  );
  const answer = answered.metrics.find(({ value }) => String(value).startsWith('{"id":"kept"'));
  expect(answer?.value).toContain('"code":"RETAINED"');
  expect(commander.commands).toEqual([]);
});
