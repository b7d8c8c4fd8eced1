import { afterEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../../../src/domain/outcome.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { decode } from "../../../support/sparkplug/payload.ts";
import { startTcpProxy } from "../../../support/tcp-proxy.ts";
import { startLimitedBroker } from "../limited-broker.ts";
import { haveMosquitto, startMosquitto } from "../mosquitto.ts";
import { done, external, recordingCommander } from "../mqtt-harness.ts";
import { createScriptedBroker } from "../scripted-broker.ts";
import { batteryChange, command, newNode, openHost, robotChange } from "./sparkplug-harness.ts";

const NCMD = "spBv1.0/plant/NCMD/fleet";
const never = new AbortController().signal;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const robots = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => robotChange(`r${from + index}`));

/** A node at a broker that a test can stall, with so many robots born. */
async function atScripted(count: number) {
  const broker = createScriptedBroker();
  const clock = createManualClock();
  const commander = recordingCommander();
  const link = newNode({ openBroker: broker.open, clock, commander, sparkplug: { commands: true } });
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: robots(0, count), events: [] });
  const sent = (type: string) =>
    broker.received.filter((packet) => packet.cmd === "publish" && packet.topic.includes(`/${type}/`));
  await expect.poll(() => sent("DBIRTH").length).toBe(count);
  const write = (metrics: Parameters<typeof command>[0]) =>
    broker.say([
      { cmd: "publish", topic: NCMD, payload: command(metrics), qos: 0, dup: false, retain: false },
    ]);
  return { broker, clock, commander, connection, link, sent, write };
}

const rebirth = { name: "Node Control/Rebirth", type: "Boolean", value: true } as const;
const request = (id: string) => {
  const value = JSON.stringify({
    id,
    operation: "CreateMission",
    expires_in_ms: 10_000,
    request: { robot_id: id },
  });
  return { name: "Commands/Request", type: "String", value } as const;
};

test("a flood of requests leaves time for everything else", async () => {
  const { broker, link } = await atScripted(0);
  const merged = () => link.health().figures?.rebirthsMerged ?? 0;
  const payload = command(Array(100).fill(rebirth));
  const flood = Array(200).fill({ cmd: "publish", topic: NCMD, payload, qos: 0, dup: false, retain: false });
  broker.say(flood);
  do await new Promise(setImmediate);
  while (merged() === 0);
  expect(merged()).toBeLessThan(10_000);
  await expect.poll(merged).toBe(20_000 - 1);
});

test("births over a slow connection come to their end, however often hosts ask", async () => {
  const { broker, clock, sent, write } = await atScripted(200);
  broker.stall();
  for (let asked = 0; asked < 4; asked += 1) {
    write([rebirth]);
    await clock.settle(11_000);
  }
  broker.resume();
  await expect.poll(() => sent("DBIRTH").length).toBeGreaterThanOrEqual(400);
  expect(sent("NBIRTH")).toHaveLength(2);
  await clock.settle(11_000);
  await expect.poll(() => sent("DBIRTH").length).toBe(600);
});

test("no answer is lost to a rebirth", async () => {
  const { broker, commander, connection, sent, write } = await atScripted(0);
  broker.stall();
  const writing = connection.write({ changes: robots(0, 200), events: [] });
  for (const id of ["a", "b"]) write([request(id)]);
  await expect.poll(() => commander.commands.length).toBe(2);
  await new Promise(setImmediate);
  write([rebirth]);
  await new Promise(setImmediate);
  broker.resume();
  await writing;
  await expect.poll(() => sent("NBIRTH").length).toBe(2);
  const answers = () => sent("NDATA").map((packet) => String(packet.cmd === "publish" && packet.payload));
  for (const id of ["a", "b"])
    await expect.poll(() => answers().some((text) => text.includes(`"id":"${id}"`))).toBe(true);
});

test("a clock that is set back means births anew, and no message is older than its birth", async () => {
  const { clock, connection, sent } = await atScripted(1);
  await connection.write({ changes: [batteryChange("r0", 50)], events: [] });
  clock.jump(-3_600_000);
  await clock.settle(6_000);
  await connection.write({ changes: [batteryChange("r0", 51), robotChange("r0", "stale")], events: [] });
  await expect.poll(() => sent("NBIRTH").length).toBe(2);
  await connection.write({ changes: [robotChange("r0"), batteryChange("r0", 52)], events: [] });
  const read = (type: string) =>
    sent(type).map((packet) => decode(packet.cmd === "publish" ? Buffer.from(packet.payload) : Buffer.of()));
  const [, second] = read("NBIRTH");
  expect(second?.metrics.every(({ atMs }) => atMs !== null && atMs <= Number(second?.atMs))).toBe(true);
  const times = ["NBIRTH", "DBIRTH", "DDEATH", "NDATA"].flatMap(read).map((message) => Number(message?.atMs));
  expect(Math.min(...times)).toBe(Number(second?.atMs));
});

test("a broker of MQTT 5 that ends the connection gives its reason by name", async () => {
  const broker = await startLimitedBroker({});
  cleanups.push(() => broker.close());
  const link = newNode({ options: { broker: external(broker.url), protocolVersion: 5 } });
  const connection = await link.connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  broker.end(0x89);
  expect(await connection.lost).toMatchObject({
    message: "the connection to the MQTT broker is lost: the broker gave reason 137: Server busy",
  });
});

describe.skipIf(!haveMosquitto)("a mosquitto", () => {
  async function at(more: readonly string[], protocolVersion: 4 | 5, response = "{}") {
    const mosquitto = await startMosquitto(undefined, more);
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    const outcome: Outcome = { ...done, responseJson: response };
    const link = newNode({
      options: { broker: external(mosquitto.url), protocolVersion },
      sparkplug: { commands: true },
      commander: recordingCommander(() => Promise.resolve(outcome)),
    });
    const connection = await link.connect(never);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    return { host, connection, link };
  }

  test("that takes no packet as large as a birth: nothing is published without one", async () => {
    const { host, connection, link } = await at(["max_packet_size 300"], 5);
    const writing = connection.write({ changes: [robotChange("r1")], events: [] });
    await expect(writing).rejects.toThrow(
      "the message on spBv1.0/plant/NBIRTH/fleet is larger than the 300 bytes that the broker takes",
    );
    await connection[Symbol.asyncDispose]();
    await host.on("NDEATH");
    expect(host.seen.map(({ type }) => type)).toEqual(["NDEATH"]);
    expect(link.health().figures).toMatchObject({ births: 0 });
  });

  test("that takes the birth of the node, and none of a robot: neither is published", async () => {
    const { host, connection, link } = await at(["max_packet_size 1000"], 5);
    const writing = connection.write({ changes: [robotChange("r1")], events: [] });
    await expect(writing).rejects.toThrow(
      "the message on spBv1.0/plant/DBIRTH/fleet/r1 is larger than the 1000",
    );
    await connection[Symbol.asyncDispose]();
    await host.on("NDEATH");
    expect(host.seen.map(({ type }) => type)).toEqual(["NDEATH"]);
    expect(link.health().figures).toMatchObject({ births: 0, deviceBirths: 0 });
  });

  test.each([
    [5, ["max_packet_size 8000"], 9_000],
    [4, [], 70_000],
  ] as const)("MQTT %s %s: a birth can repeat each answer", async (protocolVersion, more, bytes) => {
    const { host, connection } = await at(more, protocolVersion, JSON.stringify("x".repeat(bytes)));
    await connection.write({ changes: [], events: [] });
    await host.on("NBIRTH");
    await host.client.publishAsync(NCMD, command([request("a")]));
    await host.on("NDATA");
    await host.askRebirth();
    await host.receive(() => host.seen.filter(({ type }) => type === "NBIRTH").length === 2);
    expect(host.values("").get("Commands/Answer")?.value).toContain("the response is left out");
  });

  test("that allows one message at a time", async () => {
    const { host, connection } = await at(["max_inflight_messages 1"], 5);
    await connection.write({ changes: robots(0, 50), events: [] });
    await host.on("DBIRTH", "r49");
    await connection[Symbol.asyncDispose]();
    await host.on("NDEATH");
  });

  test.each([4, 5] as const)("MQTT %s: a connection cut amid 1,000 births", async (protocolVersion) => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const proxy = await startTcpProxy(() => new URL(mosquitto.url).host);
    cleanups.push(() => proxy.close());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    const broker = external(`mqtt://${proxy.address}`);
    const link = newNode({ options: { broker, protocolVersion } });
    const cut = await link.connect(never);
    const changes = robots(0, 1_000);
    const writing = cut.write({ changes, events: [] }).catch(() => 0);
    await host.receive(({ type }) => type === "DBIRTH");
    proxy.cut();
    await writing;
    await cut.lost;
    await cut[Symbol.asyncDispose]();
    await host.on("NDEATH");
    const before = host.seen.length;
    const connection = await link.connect(never);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    await connection.write({ changes, events: [] });
    await host.receive(() => host.seen.length - before >= 1_001);
    expect(host.seen.slice(before).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 1_001 }, (_, index) => index % 256),
    );
  });
});
