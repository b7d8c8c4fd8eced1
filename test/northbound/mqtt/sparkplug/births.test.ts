import { EventEmitter } from "node:events";
import { parser } from "mqtt-packet";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../../../src/contracts/link.ts";
import type { StateChange } from "../../../../src/domain/change.ts";
import { unknownSight } from "../../../../src/domain/station-sight.ts";
import { noCounters } from "../../../../src/domain/station-visits.ts";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { noLimits } from "../../../../src/northbound/mqtt/client/broker-limits.ts";
import type { LimitedClient } from "../../../../src/northbound/mqtt/client/limited-client.ts";
import { watchLoss } from "../../../../src/northbound/mqtt/connection.ts";
import { createPlant } from "../../../../src/northbound/mqtt/sparkplug/plant.ts";
import { createNodeReport } from "../../../../src/northbound/mqtt/sparkplug/report.ts";
import { createSession } from "../../../../src/northbound/mqtt/sparkplug/session.ts";
import { createSparkplugTopics } from "../../../../src/northbound/mqtt/sparkplug/topics.ts";
import { silentLog } from "../../../../src/platform/log.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { newBroker } from "../link-harness.ts";
import { base, embedded, missionChange, start } from "../mqtt-harness.ts";
import {
  batteryChange,
  conveyorChange,
  type Host,
  type NodeChanges,
  newNode,
  noPermit,
  openHost,
  placeChange,
  robotChange,
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

async function connect(changes: NodeChanges = {}): Promise<Connection> {
  const connection = await newNode({ openBroker: broker.open, ...changes }).connect(
    new AbortController().signal,
  );
  cleanups.push(() => connection[Symbol.asyncDispose]());
  return connection;
}

const write = (connection: Connection, ...changes: readonly StateChange[]) =>
  connection.write({ changes, events: [] });

describe("births", () => {
  test("the node's own has bdSeq and Rebirth by name, and the gateway's values", async () => {
    await write(await connect());
    const birth = await host.on("NBIRTH");
    expect(birth.seq).toBe(0);
    expect(birth.packet).toMatchObject({ qos: 0, retain: false });
    const metrics = new Map(birth.metrics.map((metric) => [metric.name, metric]));
    expect(Number(metrics.get("bdSeq")?.value)).toBe(0);
    expect(metrics.get("bdSeq")).toMatchObject({ alias: null, type: "Int64" });
    expect(metrics.get("Node Control/Rebirth")).toMatchObject({ value: false, alias: null, type: "Boolean" });
    expect(metrics.get("Gateway/Health")).toMatchObject({ value: "up" });
    expect(metrics.get("Gateway/FleetLinkUp")).toMatchObject({ value: true });
    expect(metrics.get("Gateway/Version")).toMatchObject({ value: "1.2.3" });
    expect(metrics.get("Gateway/ModelHash")?.value).toMatch(/^[0-9a-f]{16}$/);
  });

  test("a robot's has every metric that is ever reported, with type, time, and value or null", async () => {
    await write(await connect(), robotChange("r.1"), batteryChange("r.1", 70));
    const birth = await host.on("DBIRTH", "r%2E1");
    expect(birth.seq).toBe(1);
    for (const metric of birth.metrics) {
      expect(metric.name).not.toBeNull();
      expect(metric.type).not.toBeNull();
      expect(metric.atMs).toBeGreaterThan(0);
    }
    expect(birth.metrics.map(({ name }) => name).sort()).toEqual(robotMetrics);
    const metrics = new Map(birth.metrics.map((metric) => [metric.name, metric]));
    expect(metrics.get("Info/RobotId")).toMatchObject({ value: "r.1", quality: null });
    expect(metrics.get("Battery/ChargePercent")).toMatchObject({
      ...{ value: 70, unit: "%", atMs: 1_750_000_000_000, quality: null },
    });
    expect(metrics.get("Mission/State")).toMatchObject({ isNull: true, quality: 0 });
  });

  test("aliases are unique over the whole node", async () => {
    await write(await connect(), robotChange("r1"), robotChange("r2"));
    await host.on("DBIRTH", "r1");
    await host.on("DBIRTH", "r2");
    const aliases = host.seen
      .flatMap(({ metrics }) => metrics)
      .flatMap(({ alias }) => (alias === null ? [] : [alias]));
    expect(new Set(aliases).size).toBe(aliases.length);
  });

  test("all births come before the first data, also if the snapshot comes in parts", async () => {
    const connection = await connect();
    await connection.write({
      changes: [robotChange("r1"), batteryChange("r1", 70)],
      events: [],
      isInSnapshot: true,
    });
    await write(connection, robotChange("r2"), batteryChange("r1", 71));
    await write(connection, batteryChange("r1", 72));
    await host.on("DDATA", "r1");
    expect(host.seen.map(({ type, device }) => type + device)).toEqual([
      "NBIRTH",
      "DBIRTHr1",
      "DBIRTHr2",
      "DDATAr1",
    ]);
    expect(host.seen.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    expect(host.values("r1").get("Battery/ChargePercent")).toMatchObject({ value: 72 });
  });

  test("all births come before the first data, also if the fleet is found robot by robot", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"), robotChange("r2", "unknown"), batteryChange("r1", 70));
    await write(connection, batteryChange("r1", 71));
    await write(connection, robotChange("r2"), batteryChange("r1", 72));
    await write(connection, batteryChange("r2", 50), robotChange("r3"));
    await host.on("DDATA", "r2");
    expect(host.seen.map(({ type, device }) => type + device)).toEqual([
      ...["NBIRTH", "DBIRTHr1", "DBIRTHr2", "DBIRTHr3", "DDATAr1", "DDATAr2"],
    ]);
    expect(host.values("r1").get("Battery/ChargePercent")).toMatchObject({ value: 72 });
  });

  test("data do not wait for ever for a robot of which nothing comes", async () => {
    const clock = createManualClock();
    const connection = await connect({ clock });
    await write(connection, robotChange("r1"), robotChange("r2", "unknown"));
    await write(connection, batteryChange("r1", 71));
    await clock.settle(6_000);
    await host.on("DDATA", "r1");
  });

  test("a conveyor that is found later is a new birth of the robot", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"));
    await write(connection, conveyorChange("r1", 2));
    const birth = await host.receive(
      ({ type, metrics }) => type === "DBIRTH" && metrics.some(({ name }) => name === "Conveyor/2/Rolling"),
    );
    const metrics = new Map(birth.metrics.map((metric) => [metric.name, metric]));
    expect(metrics.get("Conveyor/2/Rolling")).toMatchObject({ value: true });
    expect(metrics.get("Alarm/CONVEYOR_ERROR_2")).toMatchObject({ value: false });
    expect(host.seen.some(({ type }) => type === "DDEATH")).toBe(false);
  });

  test("a station that requires a permit shows whether it is given, and why not", async () => {
    const clock = createManualClock();
    let reason = "the heartbeat stands still";
    const permitOf = () => ({ isRequired: true, isGiven: reason === "", reason });
    const shown = { sight: unknownSight, counters: noCounters(0) };
    await write(await connect({ clock, permitOf }), { kind: "station", station: "packing", shown });
    await host.on("DBIRTH", "station:packing");
    const value = (name: string) => host.values("station:packing").get(name)?.value;
    expect([value("Permitted"), value("NotPermittedReason")]).toEqual([false, "the heartbeat stands still"]);
    reason = "";
    await clock.settle(6_000);
    await host.on("DDATA", "station:packing");
    expect([value("Permitted"), value("NotPermittedReason")]).toEqual([true, ""]);
  });

  test("data have the alias and no name, and only what has changed", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"), batteryChange("r1", 70));
    await write(connection, batteryChange("r1", 71));
    const data = await host.on("DDATA", "r1");
    expect(data.packet).toMatchObject({ qos: 0, retain: false });
    expect(data.metrics).toHaveLength(1);
    expect(data.metrics[0]).toMatchObject({ name: null, value: 71 });
    expect(data.metrics[0]?.alias).not.toBeNull();
  });

  test("a value that has changed back before it was published is no data", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"), batteryChange("r1", 70));
    await host.on("DBIRTH", "r1");
    await write(connection, batteryChange("r1", 71), batteryChange("r1", 70));
    await write(connection, batteryChange("r1", 72));
    await host.on("DDATA", "r1");
    expect(host.seen.map(({ type }) => type)).toEqual(["NBIRTH", "DBIRTH", "DDATA"]);
    expect(host.values("r1").get("Battery/ChargePercent")).toMatchObject({ value: 72 });
  });

  test("the sequence goes from 255 on to 0", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"));
    for (let charge = 0; charge < 300; charge += 1) await write(connection, batteryChange("r1", charge));
    await host.receive(({ seq, type }) => type === "DDATA" && seq === 45);
    const numbers = host.seen.map(({ seq }) => seq ?? -1);
    for (const [index, seq] of numbers.entries()) expect(seq).toBe(index % 256);
  });
});

describe("what is true", () => {
  test("a value that is not good is null, with Quality 500, and good again has no Quality", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"), batteryChange("r1", 70));
    await write(connection, batteryChange("r1", 70, "stale"));
    const bad = await host.on("DDATA", "r1");
    expect(bad.metrics[0]).toMatchObject({ isNull: true, quality: 500 });
    await write(connection, batteryChange("r1", 70));
    await host.receive(({ metrics }) => metrics.some(({ value, name }) => value === 70 && name === null));
    expect(host.values("r1").get("Battery/ChargePercent")).toMatchObject({ value: 70, quality: null });
  });

  test("a robot that is not good is dead, and is born again when it is good", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1"), batteryChange("r1", 70));
    await write(connection, robotChange("r1", "stale"), batteryChange("r1", 70, "stale"));
    const death = await host.on("DDEATH", "r1");
    expect(death).toMatchObject({ seq: 2, metrics: [] });
    expect(death.packet).toMatchObject({ qos: 0, retain: false });
    await write(connection, batteryChange("r1", 60), robotChange("r1"));
    await host.receive(({ type, seq }) => type === "DBIRTH" && seq === 3);
    expect(host.values("r1").get("Battery/ChargePercent")).toMatchObject({ value: 60 });
    expect(host.seen.some(({ type }) => type === "DDATA")).toBe(false);
  });

  test("a robot that is lost while a rebirth is due is dead before the node is born again", async () => {
    const topics = createSparkplugTopics(sparkplugOptions, true);
    const clock = createManualClock();
    const facts = {
      version: "1",
      builtAt: null,
      health: () => ({}),
      fleetLinkUp: () => true,
      permitOf: noPermit,
    };
    const plant = createPlant({ options: sparkplugOptions, facts, clock });
    const published: string[] = [];
    const read = parser();
    read.on("packet", (packet) => packet.cmd === "publish" && published.push(packet.topic));
    const client = Object.assign(new EventEmitter(), {
      ...{ limits: noLimits, options: {} },
      stream: { writable: true, write: (bytes: Buffer) => read.parse(bytes) },
    }) as unknown as LimitedClient;
    const session = createSession({
      ...{ client, topics, plant, clock, counts: createNodeReport(clock, silentLog).counts },
      loss: watchLoss(client),
      onBirth() {},
    });
    for (const change of [robotChange("r1"), robotChange("r2")]) plant.apply(change);
    await session.birth();
    session.stopData();
    plant.apply(robotChange("r1", "stale"));
    await session.flush();
    published.length = 0;
    await session.birth();
    await session.flush();
    expect(published).toEqual([
      topics.device("DDEATH", "r1"),
      topics.node("NBIRTH"),
      topics.device("DBIRTH", "r2"),
    ]);
  });

  test("a robot of which nothing was ever heard is not born", async () => {
    const connection = await connect();
    await write(connection, robotChange("r1", "unknown"), robotChange("r2"));
    await host.on("DBIRTH", "r2");
    expect(host.seen.some(({ device }) => device === "r1")).toBe(false);
  });

  test("a mission's values are those of the simulator's message", async () => {
    await write(await connect(), robotChange("r1"), missionChange("r1"));
    await host.on("DBIRTH", "r1");
    const value = (name: string) => host.values("r1").get(`Mission/${name}`)?.value;
    expect(value("Id")).toBe("m1");
    expect(value("State")).toBe("STATE_RUNNING");
    expect(value("Type")).toBe("CART_TYPE_TRAVERSE");
    expect(value("Goal")).toBe("pose 1.2 -3 0");
    expect(value("GoalIndex")).toBe(1);
    expect(value("GoalCount")).toBe(2);
    expect(value("Arrived")).toBe(false);
  });

  test("a position is shown from 0.1 on, once a second at most, and the last one is never lost", async () => {
    const clock = createManualClock();
    const connection = await connect({ clock });
    await write(connection, robotChange("r1"), placeChange("r1", 1));
    await write(connection, placeChange("r1", 1.05));
    await write(connection, placeChange("r1", 2));
    await write(connection, placeChange("r1", 3));
    await host.on("DBIRTH", "r1");
    expect(host.seen.some(({ type }) => type === "DDATA")).toBe(false);
    await clock.settle(2_000);
    const data = await host.on("DDATA", "r1");
    expect(data.metrics.map(({ value }) => value)).toEqual([3]);
  });
});

const robotMetrics = [
  ...["BATTERY_CRITICAL", "BATTERY_LOW", "CONVEYOR_NOT_STOPPED", "FOREIGN_MISSIONS", "MISSION_FAILED"],
  ...["OUTCOME_UNKNOWN", "ROBOT_CLOCK", "ROBOT_EXCEPTION", "ROBOT_LOST"],
]
  .map((code) => `Alarm/${code}`)
  .concat([
    ...["Battery/ChargePercent", "Battery/Charging", "Battery/State"],
    ...["Info/Alias", "Info/Family", "Info/RobotId"],
    ...["Mission/Arrived", "Mission/Feedback", "Mission/Goal", "Mission/GoalCount", "Mission/GoalIndex"],
    ...["Mission/Id", "Mission/Owner", "Mission/State", "Mission/Type"],
    ...["Position/Heading", "Position/MapId", "Position/PointCode", "Position/X", "Position/Y"],
    ...["State/NotReadyReason", "State/Quality", "State/ReadyForCommand"],
    ...["TaskChain/Id", "TaskChain/Status"],
  ])
  .sort();
