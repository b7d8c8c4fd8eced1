import mqtt, { type MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { EmbeddedBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { openPublishedTopics } from "../../../src/northbound/mqtt/published-topics.ts";
import { underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createLive } from "../../../src/platform/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createMemoryDisk, type MemoryDisk } from "../../support/memory-tables.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import {
  base,
  external,
  type Listener,
  listen,
  missionChange,
  mqttOptions,
  stamp,
  start,
} from "./mqtt-harness.ts";

let broker: EmbeddedBroker;
let watcher: Listener;
let disk: MemoryDisk;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  disk = createMemoryDisk();
  broker = newBroker();
  cleanups.push(await start(broker));
  watcher = await listen(`mqtt://127.0.0.1:${broker.port()}`, {}, "#");
  cleanups.push(() => watcher.client.endAsync(true));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const robot = (robotId: string): StateChange => ({ kind: "robot", robotId, family: "cart", quality: "good" });
const conveyor = (robotId: string, index: number): StateChange =>
  ({
    kind: "conveyor",
    robotId,
    observed: {
      value: {
        index,
        operation: "OPERATION_STATE_STOPPED",
        payload: "PAYLOAD_STATE_EMPTY",
        health: "HEALTH_STATE_OK",
        installation: "INSTALLATION_STATE_INSTALLED",
      },
      stamp,
      quality: "good",
    },
  }) as unknown as StateChange;
const presence = (robotId: string): StateChange => ({
  kind: "presence",
  robotId,
  observed: {
    value: { amrId: 1, mapId: 1, position: "P1", stateId: "idle", taskChainId: 0, info: {} },
    stamp,
    quality: "good",
  },
});
const map = (mapId: number): StateChange => ({
  kind: "map",
  mapId,
  map: { readAtMs: 0, json: "{}", bytes: 2 },
});
const chain = (chainId: number): StateChange => ({
  kind: "task_chain",
  chainId,
  observed: {
    value: { chainId, amrId: 1, taskSeq: "", status: "S", finished: false, info: {} },
    stamp,
    quality: "good",
  },
});

/** Any event, told apart by its id. */
function sign(eventId: string): FleetEvent {
  const source = { protocol: "mqtt", name: "e" } as const;
  return { kind: "hold", eventId, robotId: "", atMs: 0, owner: source, to: "held", by: source };
}

/** One run of the gateway. Only the broker is the embedded one: the options say one of the plant. */
async function live(sessionId: string, options: Partial<MqttOptions> = {}) {
  const clock = createManualClock();
  const openBroker = options.broker === undefined ? broker.open : null;
  const all = mqttOptions({ tags: true, ...options });
  const link = newLink({ sessionId, clock, openBroker, tables: disk.open(), options: all });
  const connection = await link.connect(new AbortController().signal);
  const show = (...changes: StateChange[]) => connection.write({ changes, events: [] });
  let isOver = false;
  let count = 0;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    await connection[Symbol.asyncDispose]();
    await watcher.receive(({ text }) => text.includes('"offline"') && text.includes(`"${sessionId}"`));
  };
  cleanups.push(end);
  /** All that the gateway has published has come to the watcher, and what it is to hear, to it. */
  const arrived = async () => {
    count += 1;
    const code = `${sessionId}-${count}`;
    await connection.write({ changes: [], events: [sign(code)] });
    await watcher.receive(({ text }) => text.includes(code));
  };
  return {
    show,
    end,
    /** Lets the looks of some seconds happen, one after the other. */
    async look(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000);
        await arrived();
        await arrived();
      }
    },
  };
}

/** What the broker retains, by what the watcher has heard: of events it retains nothing. */
function retained(): readonly string[] {
  const newest = new Map(watcher.received.map(({ topic, text }) => [topic, text]));
  const kept = [...newest].filter(([topic, text]) => text !== "" && !topic.includes("/event/"));
  return kept.map(([topic]) => topic).sort();
}

async function writer(): Promise<MqttClient> {
  const client = new mqtt.MqttClient(() => broker.open(), { reconnectPeriod: 0, clientId: "writer" });
  cleanups.push(() => client.endAsync(true));
  await new Promise((resolve) => client.once("connect", resolve));
  return client;
}

const of = (topics: readonly string[], part: string) => topics.filter((topic) => topic.includes(part));

it("of robots, conveyors and maps that are gone, all is cleared once the fleet is listed", async () => {
  const first = await live("s1");
  await first.show(
    robot("r1"),
    robot("r2"),
    missionChange("r2"),
    conveyor("r1", 1),
    conveyor("r1", 2),
    map(1),
    map(2),
  );
  await first.look(4);
  await first.end();
  const before = retained();
  expect(of(before, "/r2/").length).toBeGreaterThan(10);

  const second = await live("s2");
  await second.show(robot("r1"), conveyor("r1", 1), map(1));
  await second.look(10);
  expect(of(retained(), "/r2/")).toEqual(of(before, "/r2/"));
  await second.show(presence("r1"));
  await second.look(12);
  const after = retained();
  expect(of(after, "/r2/")).toEqual([]);
  expect(of(after, "/maps/")).toEqual([`${base}/maps/1`]);
  expect(of(after, "conveyors/2")).toEqual([]);
  expect(of(after, "/r1/conveyors/1")).toEqual([`${base}/robots/r1/conveyors/1`]);
  expect(of(after, "/r1/info")).toHaveLength(1);
  expect(of(after, "status")).toHaveLength(1);
  expect(JSON.stringify([...disk.records])).toContain("/r1/");
  expect(JSON.stringify([...disk.records])).not.toContain("/r2/");
});

it("what a configuration with other topics left is cleared at once, chains too", async () => {
  const first = await live("s1", { base: "old/base" });
  await first.show(robot("r1"), missionChange("r1"), chain(1), chain(2));
  await first.look(4);
  await first.end();
  expect(of(retained(), "old/base/").length).toBeGreaterThan(10);
  const second = await live("s2", { placement: createLive({ ...underBase, robot: "acme/{robot}" }) });
  await second.show(robot("r1"), chain(1));
  await second.look(14);
  const after = retained();
  expect(of(after, "old/base")).toEqual([]);
  expect(of(after, "acme/r1/info")).toHaveLength(1);
  expect(of(after, `${base}/task_chains/1`)).toHaveLength(1);
});

it("what somebody else has put there since is not cleared", async () => {
  const first = await live("s1", { base: "old/base" });
  await first.show(robot("r1"), robot("r2"), robot("r3"), missionChange("r1"));
  await first.look(4);
  await first.end();
  const other = await writer();
  const options = { retain: true, qos: 1 } as const;
  // Another gateway has taken over r1, and something else uses the topic of r2's info.
  await other.publishAsync("old/base/robots/r1/info", '{"robot_id":"r1","session_id":"t1"}', options);
  await other.publishAsync("old/base/robots/r2/info", "hello", options);
  await other.publishAsync("old/base/robots/r9/info", '{"robot_id":"r9","session_id":"s1"}', options);
  await watcher.receive(({ topic }) => topic.includes("/r9/"));
  const before = retained();
  const second = await live("s2");
  await second.look(14);
  const after = retained();
  for (const part of ["/r1/", "/r2/", "/r9/"]) expect(of(after, part)).toEqual(of(before, part));
  expect(of(before, "/r3/").length).toBeGreaterThan(1);
  expect(of(after, "/r3/")).toEqual([]);
});

it("a crash leaves what a later run clears", async () => {
  const first = await live("s1", { base: "old/base" });
  await first.show(robot("r1"));
  await first.look(11);
  const kept = [...disk.records];
  await first.end();
  disk.records.clear();
  for (const [key, value] of kept) disk.records.set(key, value);
  const second = await live("s2");
  await second.look(14);
  expect(of(retained(), "old/base/robots/r1")).toEqual([]);
});

it.each([
  ["of another broker", () => moveRecords((key) => key.replace(/[0-9a-f]{16}/, "0123456789abcdef"))],
  ["that is damaged", () => eachRecord("brokers/", 7)],
  ["whose topics are damaged", () => eachRecord("published-topics/", { mark: 7 })],
])("a record %s clears nothing", async (_what, damage) => {
  const first = await live("s1", { base: "old/base" });
  await first.show(robot("r1"));
  await first.look(4);
  await first.end();
  const before = of(retained(), "old/base");
  damage();
  const second = await live("s2");
  await second.look(14);
  await second.end();
  expect(of(retained(), "old/base")).toEqual(before);
});

function moveRecords(to: (key: string) => string): void {
  const moved = Array.from(disk.records, ([key, value]) => [to(key), value] as const);
  disk.records.clear();
  for (const [key, value] of moved) disk.records.set(key, value);
}

function eachRecord(prefix: string, value: unknown): void {
  for (const key of disk.records.keys()) if (key.startsWith(prefix)) disk.records.set(key, value);
}

describe.runIf(haveMosquitto)("at mosquitto", () => {
  it.each([4, 5] as const)(
    "what other topics left is cleared (version %s of the protocol)",
    async (version) => {
      const mosquitto = await startMosquitto();
      cleanups.push(() => mosquitto.stop());
      watcher = await listen(mosquitto.url, {}, "#");
      cleanups.push(() => watcher.client.endAsync(true));
      const options = { broker: external(mosquitto.url), protocolVersion: version };
      const first = await live("s1", { ...options, base: "old/base" });
      await first.show(robot("r1"), missionChange("r1"));
      await first.look(4);
      await first.end();
      expect(of(retained(), "old/base").length).toBeGreaterThan(10);
      const second = await live("s2", options);
      await second.show(robot("r1"));
      await second.look(12);
      expect(of(retained(), "old/base")).toEqual([]);
      const late = await listen(mosquitto.url, {}, "#");
      await late.on("status");
      await late.client.endAsync(true);
      expect(late.received.filter(({ topic }) => topic.startsWith("old/"))).toEqual([]);
    },
  );
});

it.runIf(haveMosquitto)("what other topics left at a fallback broker is cleared there", async () => {
  const mosquitto = await startMosquitto();
  cleanups.push(() => mosquitto.stop());
  watcher = await listen(mosquitto.url, {}, "#");
  cleanups.push(() => watcher.client.endAsync(true));
  const atFirst = { broker: external(mosquitto.url) };
  const first = await live("s1", { ...atFirst, base: "first/base" });
  await first.show(robot("r1"));
  await first.look(4);
  await first.end();

  const fallbacks = [
    { url: mosquitto.url.replace("127.0.0.1", "localhost"), setting: "mqtt.fallbackBrokers.0" },
  ];
  const away = { broker: { ...external("mqtt://127.0.0.1:1"), fallbacks } };
  const second = await live("s2", { ...away, base: "old/base" });
  await second.show(robot("r1"), missionChange("r1"));
  await second.look(4);
  await second.end();
  const before = retained();
  expect(of(before, "old/base").length).toBeGreaterThan(10);
  const third = await live("s3", away);
  await third.show(robot("r1"));
  await third.look(12);
  expect(of(retained(), "old/base")).toEqual([]);
  expect(of(retained(), "first/base")).toEqual(of(before, "first/base"));
});

it("a record of very many topics is kept, and read again, whole", async () => {
  const options = {
    broker: { ...external("mqtt://b") },
    base: "b",
    placement: createLive(underBase),
  };
  const parts = { options, chainFilter: "b/task_chains/+", sessionId: "s1", tables: disk.open() };
  const record = openPublishedTopics(parts);
  for (let robotNumber = 0; robotNumber < 400; robotNumber += 1)
    for (let value = 0; value < 50; value += 1)
      record.note(`b/${robotNumber}/${value}`, `b/${robotNumber}/info`);
  await record.keep();
  record.note("b/7/more", "b/7/info");
  await record.keep();
  expect(disk.writes.at(-1), "only the topics with that mark").toHaveLength(1);
  const next = openPublishedTopics({ ...parts, sessionId: "s2" });
  expect(next.left.size).toBe(20_001);
  expect(next.left.get("b/399/49")).toBe("b/399/info");
  expect([next.isOurs("s1"), next.isOurs("s2"), next.isOurs("s3")]).toEqual([true, true, false]);
});
