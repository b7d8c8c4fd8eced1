import { afterEach, beforeEach, expect, test } from "vitest";
import type { FleetEvent } from "../../../../src/domain/event.ts";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { newBroker } from "../link-harness.ts";
import { missionChange, start } from "../mqtt-harness.ts";
import { type Host, type NodeChanges, newNode, openHost, robotChange } from "./sparkplug-harness.ts";

let broker: EmbeddedBroker;
let host: Host;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  broker = newBroker();
  cleanups.push(await start(broker));
  host = await openHost(`mqtt://127.0.0.1:${broker.port()}`);
  cleanups.push(() => host.client.endAsync(true));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const AT = 1_760_000_000_000;

function ended(robotId: string, missionId: string, atMs: number, historical = true): FleetEvent {
  return {
    ...{ kind: "mission", eventId: missionId, robotId, atMs, missionId, owner: "api", command: null },
    ...{ from: "STATE_RUNNING", to: "STATE_SUCCEEDED" },
    ...(historical ? { historical: true } : {}),
  };
}

async function connected(changes: NodeChanges = {}) {
  const link = newNode({ openBroker: broker.open, ...changes });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return connection;
}

const past = () => host.seen.filter(({ metrics }) => metrics.some(({ isHistorical }) => isHistorical));

test("stored events come after the births, in order, with their own times, and change no live value", async () => {
  const connection = await connected();
  const events = [ended("r1", "m7", AT), ended("r1", "m8", AT + 1)];
  const changes = [robotChange("r1"), missionChange("r1")];
  expect(await connection.write({ changes, events })).toBe(2);
  await host.receive(() => past().length === 2);
  expect(host.seen.map(({ type }) => type)).toEqual(["NBIRTH", "DBIRTH", "DDATA", "DDATA"]);
  expect(past().map(({ metrics }) => metrics.map(({ value }) => value))).toEqual([
    ["m7", "api", "STATE_SUCCEEDED"],
    ["m8", "api", "STATE_SUCCEEDED"],
  ]);
  for (const { metrics } of past()) for (const metric of metrics) expect(metric.isHistorical).toBe(true);
  expect(past()[1]?.metrics[0]?.atMs).toBe(AT + 1);
  expect(host.values("r1").get("Mission/State")?.value).toBe("STATE_RUNNING");
});

test("a battery that began to charge meanwhile is history too", async () => {
  const connection = await connected();
  const events: FleetEvent[] = [
    {
      ...{ kind: "battery", eventId: "e1", robotId: "r1", atMs: AT, chargePercent: 12, historical: true },
      ...{ from: "STATE_DISCHARGING", to: "STATE_CHARGING" },
    },
  ];
  await connection.write({ changes: [robotChange("r1")], events });
  await host.receive(() => past().length === 1);
  expect(past()[0]?.metrics.map(({ value, atMs }) => [value, atMs])).toEqual([
    [12, AT],
    ["STATE_CHARGING", AT],
    [true, AT],
  ]);
});

test("those of a robot that is dead wait for its birth", async () => {
  const connection = await connected();
  const changes = [robotChange("r1", "offline"), robotChange("r2")];
  await connection.write({ changes, events: [ended("r1", "m7", AT)] });
  await host.on("DBIRTH", "r2");
  await connection.write({ changes: [robotChange("r1")], events: [] });
  await host.receive(() => past().length === 1);
  expect(host.seen.map(({ type, device }) => type + device)).toEqual([
    ...["NBIRTH", "DBIRTHr2", "DBIRTHr1", "DDATAr1"],
  ]);
});

test("those of a long outage stay on the disk while robots are still found, and none is lost", async () => {
  const clock = createManualClock();
  const connection = await connected({ clock });
  const events = Array.from({ length: 1_500 }, (_, index) => ended("r1", `m${index}`, AT + index));
  const changes = [robotChange("r1"), robotChange("r2", "unknown")];
  expect(await connection.write({ changes, events })).toBe(0);
  await clock.settle(6_000);
  expect(await connection.write({ changes: [], events })).toBe(1_500);
  await host.receive(() => past().length === 1_500);
});

test("an event that happens now is no history: its values are live", async () => {
  const connection = await connected();
  await connection.write({ changes: [robotChange("r1")], events: [ended("r1", "m7", AT, false)] });
  await connection.write({ changes: [missionChange("r1")], events: [] });
  await host.on("DDATA", "r1");
  expect(past()).toEqual([]);
});
