import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connection, EventSubscribers } from "../../../../src/contracts/link.ts";
import { createBroker, type EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { filtersMeet } from "../../../../src/northbound/mqtt/broker/rights.ts";
import { createTopics } from "../../../../src/northbound/mqtt/topics.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { alarmEvent } from "../../../support/test-alarms.ts";
import { newLink } from "../link-harness.ts";
import { base, closed, embedded, type Listener, listen, noAudit, start } from "../mqtt-harness.ts";

const never = new AbortController().signal;
const allEvents = `${base}/robots/+/event/#`;
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let clock = createManualClock();
let broker: EmbeddedBroker;
let connection: Connection;
let subscribers: EventSubscribers;
let url = "";

beforeEach(async () => {
  clock = createManualClock();
  const topics = createTopics(base);
  const parts = { topics, clientId: "fleetgate-test", clock, log: silentLog, audit: noAudit };
  broker = createBroker({ options: embedded, ...parts });
  cleanups.push(await start(broker));
  url = `mqtt://127.0.0.1:${broker.port()}`;
  connection = await newLink({ openBroker: broker.open, arrivals: broker.arrivals }).connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  if (connection.subscribers === undefined) throw new Error("events do not wait for subscribers");
  subscribers = connection.subscribers;
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function subscriber(filter = allEvents): Promise<Listener> {
  const received = await listen(url, {}, filter);
  cleanups.push(() => received.client.endAsync(true));
  if (filter.includes("/event/")) await areThere();
  return received;
}

/** A subscriber that acknowledges nothing before it is told to; `got` resolves with the first message. */
async function withholding(options: IClientOptions = {}) {
  const client: MqttClient = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...options }, false);
  cleanups.push(() => client.endAsync(true));
  const held: Array<() => void> = [];
  let isWithholding = true;
  const got = new Promise<void>((resolve) => {
    client.handleMessage = (_packet, done) => {
      if (isWithholding) held.push(done);
      else done();
      resolve();
    };
  });
  await client.subscribeAsync(allEvents, { qos: 1 });
  await areThere();
  const acknowledge = () => {
    isWithholding = false;
    for (const done of held.splice(0)) done();
  };
  return { client, got, acknowledge };
}

const deliver = (...ids: readonly string[]) => subscribers.deliver(ids.map((id) => alarmEvent(id, "r1")));

/** Resolves when subscribers have come, or have gone. */
function change(): Promise<void> {
  const were = subscribers.areThere();
  return new Promise((resolve) => {
    const unwatch = subscribers.watch(() => {
      if (subscribers.areThere() === were) return;
      unwatch();
      resolve();
    });
  });
}

async function areThere(): Promise<void> {
  if (!subscribers.areThere()) await change();
}

const idsOf = ({ received }: Listener) => received.map(({ text }) => JSON.parse(text).event_id);

describe("who is there for events", () => {
  test("nobody, until a client subscribes with QoS 1, and when it has unsubscribed or gone", async () => {
    expect(subscribers.areThere()).toBe(false);
    const { client } = await subscriber();
    expect(subscribers.areThere()).toBe(true);
    const left = change();
    await client.unsubscribeAsync(allEvents);
    await left;
    const back = change();
    await client.subscribeAsync(`${base}/event/alarm`, { qos: 1 });
    await back;
    const gone = change();
    client.end(true);
    await gone;
    expect(subscribers.areThere()).toBe(false);
  });

  test("not a client that subscribes with QoS 0: it is shown what waits", async () => {
    const viewer = await subscriber("");
    await viewer.client.subscribeAsync(`${base}/#`, { qos: 0 });
    expect(subscribers.areThere()).toBe(false);
    subscribers.show(alarmEvent("e1", "r1"));
    const shown = await viewer.on("robots/r1/event/alarm");
    expect([JSON.parse(shown.text).event_id, shown.packet.qos]).toEqual(["e1", 0]);
  });

  test("a client that acknowledges is not shown what waits: it comes to it in order", async () => {
    const viewer = await subscriber("");
    await viewer.client.subscribeAsync(`${base}/#`, { qos: 0 });
    const client = await subscriber();
    subscribers.show(alarmEvent("e1", "r1"));
    await viewer.on("robots/r1/event/alarm");
    expect(await deliver("e2")).toBe(1);
    expect(idsOf(client)).toEqual(["e2"]);
  });

  test("a client that has been sent the retained messages of its subscription", async () => {
    const robots = Array.from({ length: 300 }, (_value, index) => `r${index}`);
    await connection.write({
      changes: robots.map((robotId) => ({ kind: "robot", robotId, family: "cart", quality: "good" })),
      events: [],
    });
    void change().then(() => deliver("e1"));
    const client = await subscriber(`${base}/robots/#`);
    await client.on("robots/r1/event/alarm");
    const seen = client.received.map(({ topic }) => topic);
    expect(seen.indexOf(`${base}/robots/r1/event/alarm`)).toBe(seen.length - 1);
    expect(seen.filter((topic) => topic.endsWith("/availability"))).toHaveLength(300);
  });

  test("not a client that subscribes to state only", async () => {
    await subscriber(`${base}/robots/+/mission`);
    expect(subscribers.areThere()).toBe(false);
    expect(await deliver("e1")).toBe(0);
  });
});

describe("when an event has arrived", () => {
  test("when its subscriber has acknowledged it", async () => {
    const slow = await withholding();
    const arrived = deliver("e1", "e2");
    await slow.got;
    let isDone = false;
    void arrived.then(() => {
      isDone = true;
    });
    // State does not wait for it.
    await connection.write({
      changes: [{ kind: "robot", robotId: "r1", family: "cart", quality: "good" }],
      events: [],
    });
    expect(isDone).toBe(false);
    slow.acknowledge();
    expect(await arrived).toBe(2);
  });

  test("not, when its subscriber goes before", async () => {
    const slow = await withholding();
    const arrived = deliver("e1", "e2");
    await slow.got;
    slow.client.end(true);
    expect(await arrived).toBe(0);
  });

  test("when one of several has acknowledged it, and the others too, or have gone", async () => {
    const fast = await subscriber();
    const slow = await withholding();
    const arrived = deliver("e1");
    await fast.on("robots/r1/event/alarm");
    await slow.got;
    slow.client.end(true);
    expect(await arrived).toBe(1);
  });

  test("when no client subscribes to it, while one is there for others", async () => {
    const other = await subscriber(`${base}/robots/r2/event/alarm`);
    expect(await deliver("e1")).toBe(1);
    expect(other.received).toEqual([]);
  });

  test("an overlapping subscription with QoS 0 does not take it", async () => {
    const client = await subscriber(`${base}/robots/+/event/alarm`);
    await client.client.subscribeAsync(`${base}/robots/#`, { qos: 0 });
    await client.client.subscribeAsync(`${base}/+/r1/event/+`, { qos: 0 });
    expect(await deliver("e1", "e2")).toBe(2);
    expect(idsOf(client)).toEqual(["e1", "e2"]);
    expect(client.received.map(({ packet }) => packet.qos)).toEqual([1, 1]);
  });
});

describe("a client that acknowledges nothing", () => {
  test("is disconnected after 10 s, and what it was sent has not arrived", async () => {
    const slow = await withholding();
    const gone = closed(slow.client);
    const arrived = deliver("e1");
    await slow.got;
    await clock.settle(12_000);
    await gone;
    expect(await arrived).toBe(0);
  });

  test("holds up no others when it comes again", async () => {
    const fast = await subscriber();
    const slow = await withholding({ clientId: "silent" });
    const gone = closed(slow.client);
    const arrived = deliver("e1");
    await slow.got;
    await clock.settle(12_000);
    await gone;
    expect(await arrived).toBe(1);
    const again = await withholding({ clientId: "silent" });
    expect(await deliver("e2")).toBe(1);
    await again.got;
    expect(idsOf(fast)).toEqual(["e1", "e2"]);
  });
});

test.each([
  ["a/b", "a/b", true],
  ["a/b", "a/c", false],
  ["a/b", "a", false],
  ["a/+", "+/b", true],
  ["a/+", "a", false],
  ["a/#", "a", true],
  ["#", "a/+/event/+", true],
  ["a/r1/#", "a/+/event/+", true],
  ["a/r1/mission", "a/+/event/+", false],
])("%s and %s have a topic in common: %s", (one, other, expected) => {
  expect([filtersMeet(one, other), filtersMeet(other, one)]).toEqual([expected, expected]);
});
