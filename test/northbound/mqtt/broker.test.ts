import { once } from "node:events";
import { connect as connectSocket, createServer } from "node:net";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { afterEach, describe, expect, test } from "vitest";
import { createBroker, type EmbeddedBroker } from "../../../src/northbound/mqtt/broker.ts";
import { isLoopback } from "../../../src/northbound/mqtt/broker-rights.ts";
import type { EmbeddedBrokerOptions } from "../../../src/northbound/mqtt/options.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { PortTaken } from "../../../src/platform/port-taken.ts";
import { base, closed, embedded, listen, start } from "./fixtures.ts";

const users = [
  { name: "plc1", password: "one" },
  { name: "plc2", password: "two" },
];
const secured: EmbeddedBrokerOptions = { ...embedded, anonymousLoopback: false, users };
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startBroker(options: EmbeddedBrokerOptions): Promise<{ broker: EmbeddedBroker; url: string }> {
  const broker = createBroker({ options, topics: createTopics(base), clientId: "gateway", log: silentLog });
  cleanups.push(await start(broker));
  return { broker, url: `mqtt://127.0.0.1:${broker.port()}` };
}

/** A client of a user, with its id when one is given. */
async function login(url: string, name: string, password: string, options: IClientOptions = {}) {
  const heard = await listen(url, { username: name, password, ...options });
  cleanups.push(() => heard.client.endAsync(true));
  return heard;
}

/** The gateway's own way in. */
async function gateway(broker: EmbeddedBroker): Promise<MqttClient> {
  const stream = broker.open();
  const client = new mqtt.MqttClient(() => stream, { clientId: "gateway", reconnectPeriod: 0 });
  cleanups.push(() => client.endAsync(true));
  await new Promise<void>((resolve) => client.once("connect", () => resolve()));
  return client;
}

describe("who comes in", () => {
  test.each([
    ["nobody", {}],
    ["a wrong password", { username: "plc1", password: "two" }],
    ["no password", { username: "plc1" }],
    ["an unknown name", { username: "plc3", password: "one" }],
    ["the gateway's client id", { username: "plc1", password: "one", clientId: "gateway" }],
  ])("%s is refused", async (_who, options) => {
    const { url } = await startBroker(secured);
    await expect(mqtt.connectAsync(url, { reconnectPeriod: 0, ...options }, false)).rejects.toThrow(
      /refused/i,
    );
  });

  test("anonymous clients only where it is named so, and users still need their password", async () => {
    const { url } = await startBroker({ ...secured, anonymousLoopback: true });
    const client = await mqtt.connectAsync(url, { reconnectPeriod: 0 }, false);
    await client.endAsync(true);
    await expect(
      mqtt.connectAsync(url, { reconnectPeriod: 0, username: "plc1", password: "x" }, false),
    ).rejects.toThrow(/refused/i);
  });

  test("one user cannot take another's connection by its client id", async () => {
    const { url } = await startBroker(secured);
    const plc1 = await login(url, "plc1", "one", { clientId: "shared" });
    await expect(
      mqtt.connectAsync(
        url,
        { reconnectPeriod: 0, username: "plc2", password: "two", clientId: "shared" },
        false,
      ),
    ).rejects.toThrow(/refused/i);
    expect(plc1.client.connected).toBe(true);
  });

  test.each([
    ["127.0.0.1", true],
    ["127.8.8.8", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["10.0.0.1", false],
    ["::ffff:10.0.0.1", false],
    ["127.0.0.1.example", false],
    [undefined, false],
  ])("the address %s is loopback: %s", (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });
});

describe("who may write and read what", () => {
  test.each([
    "status",
    "robots/r1/mission",
    "clients/plc2/command/CreateMission",
    "clients/plc1/reply/1",
    "clients/plc1/command/CreateMission/x",
  ])("plc1 that publishes on %s is disconnected and nobody hears it", async (topic) => {
    const { broker, url } = await startBroker(secured);
    const own = await gateway(broker);
    const watcher = await login(url, "plc2", "two");
    const plc1 = await login(url, "plc1", "one");
    plc1.client.publish(`${base}/${topic}`, "forged", { retain: true });
    await closed(plc1.client);
    await own.publishAsync(`${base}/marker`, "", { qos: 1 });
    await watcher.on("marker");
    expect(watcher.heard.filter((message) => message.text === "forged")).toEqual([]);
  });

  test("a forged last will is not published", async () => {
    const { broker, url } = await startBroker(secured);
    const own = await gateway(broker);
    const watcher = await login(url, "plc2", "two");
    const will = { topic: `${base}/status`, payload: Buffer.from("forged"), qos: 1 as const, retain: true };
    const plc1 = await login(url, "plc1", "one", { will });
    plc1.client.stream.destroy();
    await closed(plc1.client);
    await own.publishAsync(`${base}/marker`, "", { qos: 1 });
    await watcher.on("marker");
    expect(watcher.heard.map((message) => message.text)).not.toContain("forged");
  });

  test("an answer reaches its client and no other, also when it is retained", async () => {
    const { broker, url } = await startBroker(secured);
    const own = await gateway(broker);
    const plc1 = await login(url, "plc1", "one");
    const plc2 = await login(url, "plc2", "two");
    await own.publishAsync(`${base}/clients/plc1/reply/1`, "for plc1", { qos: 1, retain: true });
    await plc1.on("clients/plc1/reply/1");
    const late = await login(url, "plc2", "two");
    await own.publishAsync(`${base}/marker`, "", { qos: 1 });
    await plc2.on("marker");
    await late.on("marker");
    for (const other of [plc2, late])
      expect(other.heard.map((message) => message.text)).not.toContain("for plc1");
  });

  test("sessions are not kept: a client that comes back is told to subscribe again", async () => {
    const { broker, url } = await startBroker(secured);
    const own = await gateway(broker);
    const options = { clientId: "keeper", clean: false };
    const first = await login(url, "plc1", "one", options);
    await first.client.endAsync();
    await own.publishAsync(`${base}/robots/r1/event/mission`, "missed", { qos: 1 });
    const again = await listen(url, { username: "plc1", password: "one", ...options }, "");
    cleanups.push(() => again.client.endAsync(true));
    await again.client.subscribeAsync(`${base}/marker`);
    await own.publishAsync(`${base}/marker`, "", { qos: 1 });
    await again.on("marker");
    expect(again.heard.map((message) => message.text)).toEqual([""]);
  });
});

describe("what is not MQTT, or too much of it", () => {
  test("a packet over the limit closes the connection before it is collected", async () => {
    const { broker, url } = await startBroker(secured);
    const plc1 = await login(url, "plc1", "one");
    plc1.client.publish(`${base}/clients/plc1/command/CreateMission`, Buffer.alloc(400 * 1024));
    await closed(plc1.client);
    expect((await login(url, "plc2", "two")).client.connected).toBe(true);
    expect(broker.health().state).toBe("up");
  });

  test.each([
    ["HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an endless length", "\x10\xff\xff\xff\xff\xff"],
    ["a publish before connect", "\x30\x05\x00\x01a12"],
    ["a connect that lies about its strings", "\x10\x0a\x00\xffMQTT\x04\x02\x00\x0a"],
  ])("%s ends that connection and no other", async (_what, bytes) => {
    const { broker, url } = await startBroker(secured);
    const plc1 = await login(url, "plc1", "one");
    const socket = connectSocket(broker.port(), "127.0.0.1");
    socket.on("error", () => socket.destroy());
    const ended = once(socket, "close");
    socket.end(Buffer.from(bytes, "latin1"));
    socket.resume();
    await ended;
    expect(plc1.client.connected).toBe(true);
    expect(broker.health().state).toBe("up");
  });

  test("MQTT 5 is refused, as aedes cannot speak it", async () => {
    const { url } = await startBroker(embedded);
    await expect(mqtt.connectAsync(url, { reconnectPeriod: 0, protocolVersion: 5 }, false)).rejects.toThrow();
  });
});

test("a port that is taken is named", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => other.close());
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const broker = createBroker({
    options: { ...embedded, port },
    topics: createTopics(base),
    clientId: "gateway",
    log: silentLog,
  });
  const failure = await start(broker).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PortTaken);
  expect(failure).toMatchObject({ port, listener: "mqtt" });
  expect(broker.health().state).toBe("down");
  expect(() => broker.open()).toThrow("not up");
});
