import mqtt from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createSparkplugTopics } from "../../../../src/northbound/mqtt/sparkplug/topics.ts";
import { newBroker } from "../link-harness.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { base, embedded, external, recordingCommander, start } from "../mqtt-harness.ts";
import {
  command,
  type Host,
  type NodeChanges,
  newNode,
  openHost,
  sparkplugOptions,
} from "./sparkplug-harness.ts";

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

async function born(areEnabled: boolean, at: NodeChanges = { openBroker: broker.open }) {
  const commander = recordingCommander();
  const link = newNode({ ...at, commander, sparkplug: { commands: areEnabled } });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [], events: [] });
  const birth = await host.on("NBIRTH");
  const alias = birth.metrics.find(({ name }) => name === "Commands/Request")?.alias ?? 0;
  const send = (fields: object | string, options: { retain?: boolean; name?: string } = {}) => {
    const value = typeof fields === "string" ? fields : JSON.stringify(fields);
    const { name } = options;
    const metric = { type: "String", value, ...(name === undefined ? { alias } : { name }) } as const;
    return host.client.publishAsync("spBv1.0/plant/NCMD/fleet", command([metric as never]), {
      retain: options.retain ?? false,
    });
  };
  const answer = async (id: string | null) => {
    const found = await host.receive(
      ({ type, metrics }) => type === "NDATA" && metrics.some(({ value }) => isAnswer(value, id)),
    );
    return JSON.parse(String(found.metrics.find(({ value }) => isAnswer(value, id))?.value));
  };
  return { commander, send, answer };
}

const isAnswer = (value: unknown, id: string | null) =>
  typeof value === "string" && value.startsWith(`{"id":${JSON.stringify(id)}`);

const drive = { operation: "CreateMission", expires_in_ms: 10_000, request: { robot_id: "r1" } };

test("a request is a command of the group, and its answer is a metric", async () => {
  const { commander, send, answer } = await born(true);
  await send({ id: "q1", ...drive });
  expect(await answer("q1")).toMatchObject({ outcome: "succeeded", response: { mission_id: "m1" } });
  expect(commander.commands).toMatchObject([
    { source: { protocol: "mqtt", name: "sparkplug:plant" }, requestId: "q1", operation: "CreateMission" },
  ]);
});

test("the same id again is the same command, and is answered each time", async () => {
  const { commander, send } = await born(true);
  for (let time = 0; time < 3; time += 1) await send({ id: "q1", ...drive }, { name: "Commands/Request" });
  const answers = () =>
    host.seen.filter(
      ({ type, metrics }) => type === "NDATA" && metrics.some(({ value }) => isAnswer(value, "q1")),
    );
  await host.receive(() => answers().length === 3);
  expect(commander.commands).toHaveLength(1);
});

test("a birth repeats the newest answer with the time of that answer", async () => {
  const { send, answer } = await born(true);
  await send({ id: "q1", ...drive });
  await answer("q1");
  const first = host.values("").get("Commands/Answer");
  await host.askRebirth();
  await host.receive(() => host.seen.filter(({ type }) => type === "NBIRTH").length === 2);
  expect(host.values("").get("Commands/Answer")).toMatchObject({ value: first?.value, atMs: first?.atMs });
});

test("commands are refused unless configured", async () => {
  const { commander, send, answer } = await born(false);
  await send({ id: "q1", ...drive });
  expect(await answer("q1")).toMatchObject({ outcome: "refused", code: "NOT_ALLOWED" });
  expect(commander.commands).toEqual([]);
});

test.skipIf(!haveMosquitto)("a retained one is refused at a broker of the plant, too", async () => {
  const mosquitto = await startMosquitto();
  cleanups.push(() => mosquitto.stop());
  host = await openHost(mosquitto.url);
  const { client } = host;
  cleanups.push(() => client.endAsync(true));
  const options = { broker: external(mosquitto.url), protocolVersion: 5 } as const;
  const { commander, send, answer } = await born(true, { options });
  await send({ id: "q1", ...drive }, { retain: true });
  expect(await answer("q1")).toMatchObject({ outcome: "refused", code: "RETAINED" });
  expect(commander.commands).toEqual([]);
});

test.skipIf(!haveMosquitto)("the expiry of a message of MQTT 5 is one of its request", async () => {
  const mosquitto = await startMosquitto();
  cleanups.push(() => mosquitto.stop());
  host = await openHost(mosquitto.url);
  cleanups.push(() => host.client.endAsync(true));
  const options = { broker: external(mosquitto.url), protocolVersion: 5 } as const;
  const { commander, answer } = await born(true, { options });
  const client = await mqtt.connectAsync(mosquitto.url, { protocolVersion: 5, reconnectPeriod: 0 }, false);
  cleanups.push(() => client.endAsync(true));
  const value = JSON.stringify({ id: "q1", ...drive, expires_in_ms: undefined });
  const payload = command([{ name: "Commands/Request", type: "String", value }]);
  const properties = { messageExpiryInterval: 5 };
  const sentMs = Date.now();
  await client.publishAsync("spBv1.0/plant/NCMD/fleet", payload, { properties });
  expect(await answer("q1")).toMatchObject({ outcome: "succeeded" });
  expect(Number(commander.commands[0]?.startByMs) - sentMs).toBeLessThan(9_000);
});

test("an act is refused, and the refusal names other ways", async () => {
  const { commander, send, answer } = await born(true);
  for (const operation of ["Hold", "HoldAll", "LeaseRobot", "ReleaseRobot", "Permit"]) {
    await send({ id: operation, operation, request: {} });
    expect(await answer(operation)).toMatchObject({ code: "UNKNOWN_OPERATION" });
  }
  const { message } = await answer("HoldAll");
  expect(message).toBe(
    "HoldAll does not exist over Sparkplug: use the JSON topics of MQTT, OPC UA, the web API or fleetgate hold",
  );
  const ofPlc = await answer("Permit");
  expect(ofPlc.message).toBe("Permit does not exist over Sparkplug: use OPC UA");
  expect(commander.commands).toEqual([]);
});

test("a retained one, one without an expiry and one that is no command are refused", async () => {
  const { commander, send, answer } = await born(true);
  await send({ id: "q1", ...drive }, { retain: true });
  expect(await answer("q1")).toMatchObject({ outcome: "refused", code: "RETAINED" });
  await send({ id: "q2", ...drive, expires_in_ms: undefined });
  expect(await answer("q2")).toMatchObject({ outcome: "refused", code: "NO_EXPIRY" });
  await send({ id: "q3", request: {} });
  expect(await answer("q3")).toMatchObject({ outcome: "refused", code: "MALFORMED" });
  await send("no JSON");
  expect(await answer(null)).toMatchObject({ outcome: "refused", code: "MALFORMED" });
  expect(commander.commands).toEqual([]);
});
