import { connect as connectSocket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import mqtt from "mqtt";
import { afterEach, expect, test } from "vitest";
import { createBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createTopics } from "../../../../src/northbound/mqtt/topics.ts";
import { systemClock } from "../../../../src/platform/clock.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { base, embedded, noAudit, start } from "../mqtt-harness.ts";

const cleanups: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const TOPICS = 128;
const OLD = Buffer.alloc(128 * 1024, "o");
const topicOf = (place: number) => `${base}/robots/r${place}/mission`;
/** The last one that a new subscriber is sent. */
const LAST = `${base}/robots/last/mission`;

async function startBroker() {
  const topics = createTopics(base);
  const log = silentLog;
  const options = embedded;
  const broker = createBroker({
    options,
    topics,
    clientId: "gateway",
    clock: systemClock,
    log,
    audit: noAudit,
  });
  cleanups.push(await start(broker));
  const own = new mqtt.MqttClient(() => broker.open(), { clientId: "gateway", reconnectPeriod: 0 });
  cleanups.push(() => own.endAsync(true));
  await new Promise<void>((resolve) => own.once("connect", () => resolve()));
  return { broker, own };
}

/** A client whose reading can be stopped. */
async function connectReader(port: number) {
  const socket = connectSocket(port, "127.0.0.1");
  const stream = new Duplex({
    read() {},
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (bytes) => stream.push(bytes));
  socket.on("close", () => stream.destroy());
  const client = new mqtt.MqttClient(() => stream, { clientId: "reader", reconnectPeriod: 0 });
  cleanups.push(() => client.endAsync(true));
  await new Promise<void>((resolve) => client.once("connect", () => resolve()));
  return { client, socket };
}

/**
 * What a subscriber has, by topic, when it was sent all that was retained. It read nothing for a while, in
 * which each message of `TOPICS` was replaced.
 */
async function seenBySlowSubscriber(replacement: string): Promise<Map<string, string>> {
  const { broker, own } = await startBroker();
  const publish = (topic: string, payload: string | Buffer) =>
    own.publishAsync(topic, payload, { qos: 1, retain: true });
  for (let index = 0; index < TOPICS; index += 1) await publish(topicOf(index), OLD);
  await publish(LAST, "last");

  const { client, socket } = await connectReader(broker.port());
  const seen = new Map<string, string>();
  const isThrough = new Promise<void>((resolve) => {
    client.on("message", (topic, payload) => {
      if (payload.length === 0) seen.delete(topic);
      else seen.set(topic, payload.length === OLD.length ? "old" : payload.toString());
      if (topic === LAST) resolve();
    });
  });
  client.subscribe(`${base}/#`);
  socket.pause();
  while (Number(broker.health().figures?.backlogBytes) < 64 * 1024) await setImmediate();
  for (let index = 0; index < TOPICS; index += 1) await publish(topicOf(index), replacement);
  socket.resume();
  await isThrough;
  return seen;
}

test("a slow subscriber ends with the newest value, not with one that was retained before", async () => {
  const seen = await seenBySlowSubscriber("new");
  expect(seen.size).toBe(TOPICS + 1);
  expect([...new Set(seen.values())].sort()).toEqual(["last", "new"]);
});

test("a slow subscriber is not shown again what was cleared meanwhile", async () => {
  const seen = await seenBySlowSubscriber("");
  expect([...seen.keys()]).toEqual([LAST]);
});
