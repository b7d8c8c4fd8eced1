import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPrimaryHost } from "../../../../src/northbound/mqtt/sparkplug/primary-host.ts";
import { createSparkplugTopics } from "../../../../src/northbound/mqtt/sparkplug/topics.ts";
import { sleep, systemClock } from "../../../../src/platform/clock.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { newBroker } from "../link-harness.ts";
import { haveMosquitto, type Mosquitto, startMosquitto } from "../mosquitto.ts";
import { base, embedded, external, start } from "../mqtt-harness.ts";
import {
  type Host,
  type NodeChanges,
  newNode,
  openHost,
  robotChange,
  sparkplugOptions,
} from "./sparkplug-harness.ts";

const STATE = "spBv1.0/STATE/scada";
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Connects, and is born; the promise resolves with the connection. */
function begin(changes: NodeChanges) {
  const stop = new AbortController();
  const link = newNode({ ...changes, sparkplug: { primaryHost: "scada", ...changes.sparkplug } });
  const connecting = link.connect(stop.signal).then(async (connection) => {
    await connection.write({ changes: [robotChange("r1")], events: [] });
    return connection;
  });
  connecting.catch(() => {});
  cleanups.push(async () => {
    stop.abort();
    await (await connecting.catch(() => null))?.[Symbol.asyncDispose]();
  });
  return { link, connecting };
}

const say = (host: Host, online: boolean, timestamp: number, topic = STATE) =>
  host.client.publishAsync(topic, JSON.stringify({ online, timestamp }), { qos: 1, retain: true });

test("a state of a clock that was ahead makes later ones old, which health says", async () => {
  const clock = createManualClock();
  const host = createPrimaryHost({ primaryHost: "scada", legacyState: false }, clock, silentLog);
  const connection = host?.begin("mqtt.broker", () => {});
  const receive = (state: unknown) => connection?.receive(Buffer.from(JSON.stringify(state)));
  const ahead = clock.nowMs() + 3_600_000;
  receive({ online: false, timestamp: ahead });
  receive({ online: true, timestamp: clock.nowMs() });
  expect(host?.whyNot()).toContain(`scada, whose state is older than one before it (timestamp ${ahead})`);
  receive({ online: true, timestamp: ahead });
  expect(host?.whyNot()).toBeNull();
});

const noObject = "is no JSON object";
const noTruth = "has an online that is neither true nor false";

test.each([
  ["", noObject],
  ["null", noObject],
  ["[]", noObject],
  ["{}", noTruth],
  ['{"online":"true","timestamp":1}', noTruth],
  ['{"online":true}', "has no timestamp that is a number"],
  ["ONLINE", "is the word ONLINE of before Sparkplug 3.0: look at mqtt.sparkplug.legacyState"],
  ["x".repeat(5_000), "has more than 4096 bytes"],
])("health says that the state %j is ignored, also at another broker", (state, reason) => {
  const clock = createManualClock();
  const warned: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
  const host = createPrimaryHost({ primaryHost: "scada", legacyState: false }, clock, log);
  const connection = host?.begin("mqtt.broker", () => {});
  for (let time = 0; time < 3; time += 1) connection?.receive(Buffer.from(state));
  expect(host?.whyNot()).toBe(`waits for the primary host scada, whose state ${reason}`);
  expect(warned).toEqual([{ primaryHost: "scada", broker: "mqtt.broker", reason }]);
  const other = host?.begin("mqtt.fallbackBrokers[0]", () => {});
  expect(host?.whyNot()).toBe(`waits for the primary host scada, whose state at mqtt.broker ${reason}`);
  other?.receive(Buffer.from('{"online":true,"timestamp":1}'));
  expect([host?.whyNot(), host?.problem()]).toEqual([null, null]);
});

test("with legacyState, health says that the host publishes no word", () => {
  const options = { primaryHost: "scada", legacyState: true };
  const host = createPrimaryHost(options, createManualClock(), silentLog);
  host?.begin("mqtt.broker", () => {}).receive(Buffer.from('{"online":true,"timestamp":1}'));
  expect(host?.whyNot()).toContain("is neither ONLINE nor OFFLINE");
});

test("a state that is ignored while the host is online is a problem for half a minute", async () => {
  const clock = createManualClock();
  const host = createPrimaryHost({ primaryHost: "scada", legacyState: false }, clock, silentLog);
  const connection = host?.begin("mqtt.broker", () => {});
  connection?.receive(Buffer.from('{"online":true,"timestamp":100}'));
  connection?.receive(Buffer.from('{"online":false,"timestamp":99}'));
  expect(host?.whyNot()).toBeNull();
  expect(host?.problem()).toBe(
    "a state of the primary host scada is ignored: it is older than one before it (timestamp 100)",
  );
  await clock.settle(31_000);
  expect(host?.problem()).toBeNull();
});

test("a state of an impossible time counts, and makes no other one old", () => {
  const clock = createManualClock();
  const host = createPrimaryHost({ primaryHost: "scada", legacyState: false }, clock, silentLog);
  const connection = host?.begin("mqtt.broker", () => {});
  for (const timestamp of ["-1", "1e400", "1e300", String(clock.nowMs() + 7 * 86_400_000)]) {
    connection?.receive(Buffer.from(`{"online":false,"timestamp":${timestamp}}`));
    expect(host?.whyNot()).toBe("waits for the primary host scada");
    connection?.receive(Buffer.from(JSON.stringify({ online: true, timestamp: clock.nowMs() })));
    expect(host?.whyNot()).toBeNull();
  }
});

test("a state may begin with a byte order mark, and one of a megabyte is none", () => {
  const host = createPrimaryHost(
    { primaryHost: "scada", legacyState: false },
    createManualClock(),
    silentLog,
  );
  const connection = host?.begin("mqtt.broker", () => {});
  const state = '{"online":true,"timestamp":1}';
  connection?.receive(Buffer.from(state.padEnd(1024 * 1024)));
  expect(host?.whyNot()).not.toBeNull();
  connection?.receive(Buffer.from(`\uFEFF${state}`));
  expect(host?.whyNot()).toBeNull();
});

test("at the embedded broker, births wait until the host is online", async () => {
  const hosts = { ...sparkplugOptions, primaryHost: "scada" };
  const broker = newBroker(embedded, base, createSparkplugTopics(hosts, true).fromHost);
  cleanups.push(await start(broker));
  const host = await openHost(`mqtt://127.0.0.1:${broker.port()}`);
  cleanups.push(() => host.client.endAsync(true));
  await say(host, false, 5);
  const { link } = begin({ openBroker: broker.open });
  await expect.poll(() => link.whyNot?.()).toBe("waits for the primary host scada");
  expect(link.health()).toMatchObject({ state: "up", detail: "waits for the primary host scada" });
  expect(host.seen).toEqual([]);
  await say(host, true, 6);
  await host.on("DBIRTH", "r1");
  expect(link.whyNot?.()).toBeNull();
});

describe.skipIf(!haveMosquitto)("at brokers of the plant", () => {
  let first: Mosquitto;
  let host: Host;

  beforeEach(async () => {
    first = await startMosquitto();
    cleanups.push(() => first.stop());
    host = await openHost(first.url);
    cleanups.push(() => host.client.endAsync(true));
  });

  test("offline with an older time is ignored, offline with a newer one is a death", async () => {
    await say(host, true, 100);
    const { link, connecting } = begin({ options: { broker: external(first.url), protocolVersion: 5 } });
    const connection = await connecting;
    await host.on("DBIRTH", "r1");
    let hasMoved = false;
    void connection.movesOn?.then(() => {
      hasMoved = true;
    });
    await say(host, false, 99);
    await say(host, true, 100);
    await host.askRebirth();
    await host.receive(() => host.seen.filter(({ type }) => type === "NBIRTH").length === 2);
    expect(hasMoved).toBe(false);
    expect(link.health().state).toBe("up");
    await say(host, false, 99);
    await expect.poll(() => link.health().detail).toContain("is older than one before it (timestamp 100)");
    await say(host, false, 101);
    await connection.movesOn;
    await connection[Symbol.asyncDispose]();
    await host.on("NDEATH");
  });

  test("a host that is offline at one broker is looked for at the next", async () => {
    const second = await startMosquitto();
    cleanups.push(() => second.stop());
    const other = await openHost(second.url);
    cleanups.push(() => other.client.endAsync(true));
    await say(host, true, 1);
    await say(other, true, 1);
    const broker = external(first.url, second.url);
    const { link, connecting } = begin({ options: { broker, protocolVersion: 5 } });
    const connection = await connecting;
    await host.on("DBIRTH", "r1");
    await say(host, false, 2);
    await connection.movesOn;
    await connection[Symbol.asyncDispose]();
    await host.on("NDEATH");
    const next = await link.connect(new AbortController().signal);
    cleanups.push(() => next[Symbol.asyncDispose]());
    await next.write({ changes: [robotChange("r1")], events: [] });
    await other.on("DBIRTH", "r1");
    expect(host.seen.filter(({ type }) => type === "NBIRTH")).toHaveLength(1);
  });

  test("a broker at which the host never was is left again", async () => {
    const second = await startMosquitto();
    cleanups.push(() => second.stop());
    const clock = createManualClock();
    const options = { broker: external(second.url, first.url), protocolVersion: 5 } as const;
    const { connecting } = begin({ options, clock });
    await clock.settle(0);
    const left = connecting.then(
      () => "",
      (error: Error) => error.message,
    );
    let said: string | null = null;
    void left.then((text) => {
      said = text;
    });
    await expect
      .poll(async () => {
        await clock.settle(1_000);
        return String(said);
      })
      .toContain("the primary host scada is not online at this broker");
  });

  test("a host that is offline at all brokers is waited for, at each a longer while", async () => {
    const second = await startMosquitto();
    cleanups.push(() => second.stop());
    const other = await openHost(second.url);
    cleanups.push(() => other.client.endAsync(true));
    await say(host, false, 1);
    await say(other, false, 1);
    const clock = createManualClock();
    const link = newNode({
      options: { broker: external(first.url, second.url), protocolVersion: 5 },
      sparkplug: { primaryHost: "scada" },
      clock,
    });
    const stop = new AbortController();
    cleanups.push(() => stop.abort());
    const deaths = () => [...host.seen, ...other.seen].filter(({ type }) => type === "NDEATH").length;
    /** Minutes of a link runner that connects again at once; resolves with the connections in each. */
    const found: number[] = [];
    const connecting = (async () => {
      for (;;)
        try {
          return await link.connect(stop.signal);
        } catch (error) {
          if (stop.signal.aborted) throw error;
        }
    })();
    connecting.catch(() => {});
    for (let minute = 0; minute < 3; minute += 1) {
      const before = deaths();
      for (let second = 0; second < 60; second += 1) {
        await clock.settle(1_000);
        await sleep(systemClock, 10, stop.signal);
      }
      found.push(deaths() - before);
    }
    expect(found[0]).toBeLessThan(10);
    expect(found.slice(1).every((each) => each <= 4)).toBe(true);
    await say(other, true, 2);
    await say(host, true, 2);
    const connection = await connecting;
    cleanups.push(() => connection[Symbol.asyncDispose]());
    expect(link.whyNot?.()).toBeNull();
  });

  test("the state of before Sparkplug 3.0 is a word", async () => {
    await host.client.publishAsync("STATE/scada", "ONLINE", { qos: 1, retain: true });
    const { connecting } = begin({
      options: { broker: external(first.url), protocolVersion: 4 },
      sparkplug: { legacyState: true },
    });
    const connection = await connecting;
    await host.on("DBIRTH", "r1");
    await host.client.publishAsync("STATE/scada", "OFFLINE", { qos: 1, retain: true });
    await connection.movesOn;
  });
});
