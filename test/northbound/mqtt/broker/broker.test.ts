import { once } from "node:events";
import { connect as connectSocket, createServer } from "node:net";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { afterEach, describe, expect, test } from "vitest";
import { createLogins } from "../../../../src/northbound/mqtt/broker/authenticate.ts";
import { createBroker, type EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import type { EmbeddedBrokerOptions } from "../../../../src/northbound/mqtt/options.ts";
import { createTopics } from "../../../../src/northbound/mqtt/topics.ts";
import { type Clock, systemClock } from "../../../../src/platform/clock.ts";
import { PortTaken } from "../../../../src/platform/listener.ts";
import { createLive } from "../../../../src/platform/live.ts";
import { type Log, silentLog } from "../../../../src/platform/log.ts";
import { hashPassword } from "../../../../src/platform/password.ts";
import { isLoopback } from "../../../../src/platform/url-host.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { base, closed, embedded, listen, noAudit, start } from "../mqtt-harness.ts";

const users = [
  { name: "plc1", password: "one" },
  { name: "plc2", password: "two" },
];
const secured: EmbeddedBrokerOptions = { ...embedded, anonymousLoopback: false, users: createLive(users) };
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startBroker(
  options: EmbeddedBrokerOptions,
  log: Log = silentLog,
  clock: Clock = systemClock,
): Promise<{ broker: EmbeddedBroker; url: string; stop: () => Promise<void> }> {
  const topics = createTopics(base);
  const broker = createBroker({ options, topics, clientId: "gateway", clock, log, audit: noAudit });
  const stop = await start(broker);
  cleanups.push(stop);
  return { broker, url: `mqtt://127.0.0.1:${broker.port()}`, stop };
}

/** A client of a user, with its id when one is given. */
async function login(url: string, name: string, password: string, options: IClientOptions = {}) {
  const received = await listen(url, { username: name, password, ...options });
  cleanups.push(() => received.client.endAsync(true));
  return received;
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

  test("a user whose password is kept as a hash", async () => {
    const kept = await hashPassword("one");
    const { url } = await startBroker({ ...secured, users: createLive([{ name: "plc1", password: kept }]) });
    // Twice: the second time it is known already.
    for (const _time of [1, 2]) await login(url, "plc1", "one");
    for (const password of ["two", kept, ""]) {
      const options = { reconnectPeriod: 0, username: "plc1", password };
      await expect(mqtt.connectAsync(url, options, false)).rejects.toThrow(/refused/i);
    }
  });

  test("logins that wait for a hash are few, and a known user passes them", async () => {
    const users = [{ name: "plc1", password: await hashPassword("one") }];
    const { identify } = createLogins(() => users, false);
    const log = (password: string) =>
      identify({ username: "plc1", password: Buffer.from(password), remoteAddress: "10.0.0.1" });
    expect(await log("one")).toEqual({ kind: "user", name: "plc1" });
    let answered = 0;
    const flood = Array.from({ length: 45 }, (_value, index) =>
      log(`wrong ${index}`).then(
        (identity) => {
          answered += 1;
          return identity;
        },
        (error: Error) => error.message,
      ),
    );
    expect(await log("one")).toEqual({ kind: "user", name: "plc1" });
    expect(answered).toBe(0);
    const answers = await Promise.all(flood);
    expect(answers.filter((answer) => answer === null)).toHaveLength(41);
    expect(answers.filter((answer) => answer === "too many clients log in at once")).toHaveLength(4);
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
    ["", false],
  ])("the address %s is loopback: %s", (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });
});

describe("who may write and read what", () => {
  test.each([
    "status",
    "robots/r1/mission",
    "clients/plc2/command/CreateMission",
    "clients/plc2/command/LeaseRobot",
    "clients/plc1/hold",
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
    expect(watcher.received.filter((message) => message.text === "forged")).toEqual([]);
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
    expect(watcher.received.map((message) => message.text)).not.toContain("forged");
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
      expect(other.received.map((message) => message.text)).not.toContain("for plc1");
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
    expect(again.received.map((message) => message.text)).toEqual([""]);
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

/** Connects by hand, subscribes to everything, and reads no byte more. */
async function subscribeAndStall(port: number) {
  const socket = connectSocket(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  await once(socket, "connect");
  const connect = Buffer.from("\x10\x0f\x00\x04MQTT\x04\x02\x00\x00\x00\x03sss", "latin1");
  const subscribe = Buffer.from("\x82\x06\x00\x01\x00\x01#\x00", "latin1");
  socket.write(Buffer.concat([connect, subscribe]));
  await once(socket, "readable");
  return socket;
}

describe("a client that does not read", () => {
  test("slows nobody, is cut off at its limit, and is logged once", async () => {
    const lines: unknown[] = [];
    const log = { ...silentLog, info: (fields: object) => void lines.push(fields) };
    const { broker, url } = await startBroker(embedded, log);
    const own = await gateway(broker);
    const stalled = await subscribeAndStall(broker.port());
    const other = await login(url, "any", "one");
    const figures = () => broker.health().figures ?? {};
    const payload = Buffer.alloc(64 * 1024);
    let slowestMs = 0;
    let mostWaiting = 0;
    for (let n = 0; figures().clientsDisconnected === 0 && n < 1_000; n += 1) {
      own.publish(`${base}/robots/r1/mission`, payload);
      const sentAt = performance.now();
      own.publish(`${base}/clients/any/reply/${n}`, "");
      await other.on(`clients/any/reply/${n}`);
      slowestMs = Math.max(slowestMs, performance.now() - sentAt);
      mostWaiting = Math.max(mostWaiting, figures().backlogBytes ?? 0);
    }
    // Its end comes behind all that the kernel still has for it.
    stalled.resume();
    await once(stalled, "close");
    expect(figures()).toMatchObject({ clients: 1, clientsDisconnected: 1, backlogBytes: 0 });
    // If others waited for it, they would do so for the 10 s in which it may take nothing.
    expect(slowestMs).toBeLessThan(5_000);
    expect(mostWaiting).toBeGreaterThan(1024 * 1024);
    expect(mostWaiting).toBeLessThan(5 * 1024 * 1024);
    expect(lines).toEqual([
      { from: "127.0.0.1", client: "sss", reason: expect.stringContaining("does not read") },
    ]);
  });

  test("is cut off after a while, also when little waits for it", async () => {
    const clock = createManualClock();
    const { broker, url } = await startBroker(embedded, silentLog, clock);
    const own = await gateway(broker);
    await subscribeAndStall(broker.port());
    const other = await login(url, "any", "one");
    const figures = () => broker.health().figures ?? {};
    const payload = Buffer.alloc(256 * 1024);
    // The kernel's own buffers fill first: they are full when more than one message waits that long.
    for (let n = 0; Number(figures().backlogBytes) < 2 * payload.length && n < 200; n += 1) {
      own.publish(`${base}/robots/r1/mission`, payload);
      own.publish(`${base}/clients/any/reply/${n}`, "");
      await other.on(`clients/any/reply/${n}`);
    }
    expect(figures()).toMatchObject({ clients: 2, clientsDisconnected: 0 });
    await clock.settle(5_000);
    expect(figures()).toMatchObject({ clients: 2, clientsDisconnected: 0 });
    await clock.settle(10_000);
    expect(figures()).toMatchObject({ clients: 1, clientsDisconnected: 1 });
  });

  test("does not mean one that subscribes to more than may wait for it", async () => {
    const { broker } = await startBroker(embedded);
    const own = await gateway(broker);
    const topics = Array.from({ length: 128 }, (_, n) => `${base}/robots/r${n}/mission`);
    for (const topic of topics)
      await own.publishAsync(topic, Buffer.alloc(128 * 1024), { qos: 1, retain: true });
    const socket = await subscribeAndStall(broker.port());
    await own.publishAsync(`${base}/marker`, "", { qos: 1 });
    expect(broker.health().figures?.backlogBytes).toBeLessThan(512 * 1024);
    const expected = topics.length * 128 * 1024;
    let received = 0;
    await new Promise<void>((resolve) => {
      socket.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received > expected) resolve();
      });
    });
    expect(broker.health().figures).toMatchObject({ clients: 1, clientsDisconnected: 0 });
  });
});

test("the last words reach everybody who listens, whatever they listen to", async () => {
  for (let run = 0; run < 20; run += 1) {
    const { broker, url, stop } = await startBroker(embedded);
    const own = await gateway(broker);
    const ears = await Promise.all(["status", "#"].map((filter) => listen(url, {}, `${base}/${filter}`)));
    // Who does not read costs the others nothing but the time that closing may take.
    if (run === 0) await subscribeAndStall(broker.port());
    for (let n = 0; n < 50; n += 1)
      own.publish(`${base}/robots/r${n}/availability`, "offline", { retain: true });
    await own.publishAsync(`${base}/status`, "offline", { qos: 1, retain: true });
    await own.endAsync();
    const ends = ears.map(({ client }) => closed(client));
    await stop();
    await Promise.all(ends);
    expect(
      ears.map(({ received }) => received.filter(({ topic }) => topic === `${base}/status`).length),
    ).toEqual([1, 1]);
    expect(ears[1]?.received).toHaveLength(51);
  }
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
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
  const failure = await start(broker).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PortTaken);
  expect(failure).toMatchObject({ port, listener: "mqtt" });
  expect(broker.health().state).toBe("down");
  expect(() => broker.open()).toThrow("not up");
});
