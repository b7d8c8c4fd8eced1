import { once } from "node:events";
import { connect, type Socket } from "node:net";
import mqtt from "mqtt";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBroker, type EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import type { EmbeddedBrokerOptions } from "../../../../src/northbound/mqtt/options.ts";
import { createTopics } from "../../../../src/northbound/mqtt/topics.ts";
import { type Log, silentLog } from "../../../../src/platform/log.ts";
import { createCa, createServerCertificate } from "../../../../src/simulator/tls/identity.ts";
import { type Given, withLive } from "../../../support/live.ts";
import { createManualClock, type ManualClock } from "../../../support/manual-clock.ts";
import { base, embedded, noAudit, start } from "../mqtt-harness.ts";

const authority = await createCa(Date.now());
const { key, certificate } = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
const users = [{ name: "plc1", password: "one" }];

let clock: ManualClock;
let lines: Array<Readonly<Record<string, unknown>>>;
let broker: EmbeddedBroker;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(() => {
  clock = createManualClock();
  lines = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(more: Partial<Given<EmbeddedBrokerOptions>>): Promise<void> {
  const line = (fields: object, message: string) => void lines.push({ ...fields, message });
  const log: Log = { ...silentLog, info: line, warn: line };
  const options = withLive(embedded, { anonymousLoopback: false, users, ...more });
  broker = createBroker({
    options,
    topics: createTopics(base),
    clientId: "gateway",
    clock,
    log,
    audit: noAudit,
  });
  cleanups.push(await start(broker));
}

async function closed(socket: Socket): Promise<void> {
  socket.on("error", () => {}).resume();
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
}

test("connections that fail their handshake have ten lines a minute, each with the address", async () => {
  await open({ tls: { cert: certificate, key } });
  for (let at = 0; at < 15; at += 1) {
    const probe = connect(broker.port(), "127.0.0.1");
    await once(probe, "connect");
    if (at % 2 === 0) probe.write("GET / HTTP/1.1\r\n\r\n");
    else probe.end();
    await closed(probe);
  }
  await expect.poll(() => lines.length).toBe(10);
  for (const line of lines)
    expect(line).toMatchObject({ from: "127.0.0.1", message: "an MQTT connection failed its TLS handshake" });
  await clock.settle(60_000);
  expect(lines.slice(10)).toEqual([
    { count: 5, message: "more MQTT connections have failed within a minute than the log names" },
  ]);
});

test("a handshake beyond its limit is closed, though its client could finish it", async () => {
  await open({ tls: { cert: certificate, key } });
  const silent = connect(broker.port(), "127.0.0.1");
  await closed(silent);
  expect(lines).toMatchObject([{ from: "127.0.0.1", reason: "TLS handshake timeout" }]);
});

test("refused log-ins, resets and forbidden messages have lines within the same bound", async () => {
  await open({});
  const url = `mqtt://127.0.0.1:${broker.port()}`;
  for (let at = 0; at < 12; at += 1) {
    const client = mqtt.connect(url, {
      reconnectPeriod: 0,
      username: "plc1",
      password: "one",
      clientId: `c${at}`,
    });
    client.on("error", () => {});
    await new Promise((resolve) => client.once("connect", resolve));
    client.publish("forbidden", "x");
    await new Promise<void>((resolve) => client.once("close", () => resolve()));
  }
  await expect.poll(() => lines.length).toBe(10);
  for (const line of lines)
    expect(line).toMatchObject({ from: "127.0.0.1", message: "an MQTT client was disconnected" });
});

test("a wrong password has one line", async () => {
  await open({});
  const login = { reconnectPeriod: 0, username: "plc1", password: "wrong" };
  await expect(mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port()}`, login, false)).rejects.toThrow();
  await expect.poll(() => lines).toMatchObject([{ from: "127.0.0.1", message: "an MQTT log-in failed" }]);
  await clock.settle(1_000);
  expect(lines).toHaveLength(1);
});
