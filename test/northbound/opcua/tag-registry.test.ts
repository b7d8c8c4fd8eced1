import { AttributeIds, NodeClass } from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { TagSource } from "../../../src/contracts/tags.ts";
import type { StationNode } from "../../../src/northbound/opcua/options.ts";
import { createLive, type LiveSource } from "../../../src/platform/live.ts";
import { seeNodes } from "./browse-tree.ts";
import { conveyorChange, mission, missionChange, queueOf, receivedAtMs, robotChange } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const dock: StationNode = { name: "dock 1.a", needsPermit: true, load: "CW" };
let stations: LiveSource<readonly StationNode[]>;
let running: RunningServer;
let plc: Caller;

beforeEach(async () => {
  stations = createLive([dock]);
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 7, family: "cart", conveyorIndexes: [0] }],
    stations,
  });
  running.server.write({
    changes: [
      robotChange("r1", "good"),
      missionChange("r1", queueOf(mission("m1")), "stale"),
      conveyorChange("r1", 0, {}, "lost"),
    ],
    events: [],
  });
  plc = await openSession(running.url);
  // Its nodes are there now.
  await plc.value("Robots.AMR01.Valid");
});
afterEach(async () => {
  await plc.close();
  await running.stop();
});

const tagsOf = (source: TagSource) => source.groups().flatMap((group) => group.tags());

it("has each variable that a client finds by browsing, and no other", async () => {
  const isCounted: string[] = [];
  for (const root of ["Gateway", "Robots", "Stations", "Operations"])
    for (const node of await seeNodes(plc, plc, [root]))
      if (node.nodeClass === NodeClass.Variable && !/Arguments$/.test(node.path)) isCounted.push(node.path);
  expect(isCounted.length).toBeGreaterThan(150);
  expect(
    tagsOf(running.server.tags)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(isCounted.toSorted());
});

it("describes tags in both languages, with unit, and what a number means", async () => {
  const { tags } = running.server;
  const of = (name: string) => tagsOf(tags).find((tag) => tag.name === name) ?? expect.fail(name);
  expect(of("Robots.AMR01.Battery.ChargePercent").facts()).toEqual({
    description: { en: "How full the battery is", de: "Wie voll die Batterie ist" },
    unit: "%",
    meaning: null,
  });
  expect(of("Robots.AMR01.Quality").facts().meaning).toMatchObject({ en: "known to be true now" });
  const subjectOf = (name: string) => tags.subjectOf(of(name));
  expect(subjectOf("Robots.AMR01.Battery.State.ValueAsText")).toBe("battery");
  expect(subjectOf("Robots.AMR01.Conveyors.0.Operation")).toBe("conveyor/0");
  expect(subjectOf("Robots.AMR01.Quality.ValueAsText")).toBe("robot");
  expect(subjectOf("Robots.AMR01.HeldBy")).toBe("hold");
  expect(subjectOf("Robots.AMR01.MissionSlot.NextId")).toBeNull();
  expect(subjectOf("Gateway.Heartbeat")).toBeNull();
});

it("says what a client reads: value, status and times", async () => {
  const tags = tagsOf(running.server.tags).filter(({ name }) => !/Age|Heartbeat|Uptime|Time$/.test(name));
  const nodesToRead = tags.map(({ name }) => ({ nodeId: `ns=2;s=${name}`, attributeId: AttributeIds.Value }));
  const read = await plc.session.read(nodesToRead);
  for (const [index, tag] of tags.entries()) {
    const { statusCode, value, sourceTimestamp, serverTimestamp } = read[index] ?? {};
    const plain: unknown = ArrayBuffer.isView(value?.value)
      ? Array.from(value.value as Int32Array)
      : value?.value;
    const text = plain instanceof Date ? plain.toISOString() : plain;
    expect(tag.read()).toMatchObject({
      status: statusCode?.name,
      value: (text as { text?: string } | null)?.text ?? text ?? null,
      sourceTimeMs: sourceTimestamp?.getTime() ?? null,
      ...(statusCode?.isGood() ? { receivedAtMs: serverTimestamp?.getTime() } : {}),
    });
  }
  const reading = (name: string) => tags.find((tag) => tag.name === `Robots.AMR01.${name}`)?.read();
  expect(reading("Mission.MissionId")).toEqual({
    value: "m1",
    type: "String",
    quality: "stale",
    status: "UncertainLastUsableValue",
    sourceTimeMs: receivedAtMs - 250,
    receivedAtMs,
  });
  expect(reading("Conveyors.0.Loaded")).toMatchObject({ value: null, quality: "lost" });
  expect(reading("Battery.ChargePercent")).toMatchObject({ value: null, quality: "unknown" });
  expect(reading("MissionSlot.Closed")).toMatchObject({ type: "Int32[]", value: expect.any(Array) });
});

it("says of which robot, or of which station, each is", () => {
  const ownersOf = () =>
    running.server.tags
      .groups()
      .map(({ robotId, station, tags }) => [robotId, station, tags()[0]?.name.split(".")[0]]);
  expect(ownersOf()).toEqual(
    expect.arrayContaining([
      ["r1", null, "Robots"],
      [null, "dock 1.a", "Stations"],
      [null, null, "Gateway"],
    ]),
  );
  expect(ownersOf()).toHaveLength(3);
  stations.replace([]);
  expect(ownersOf()).toHaveLength(2);
});

it("builds no node of a robot whose nodes are missing, and counts it", async () => {
  await plc.close();
  await running.stop();
  const robots = Array.from({ length: 2_000 }, (_unused, index) => ({
    robotId: `r${index}`,
    alias: null,
    number: null,
    family: "cart" as const,
    conveyorIndexes: [],
  }));
  running = await startServer({ robots });
  const { tags } = running.server;
  const before = tags.missingRobots();
  for (const tag of tagsOf(tags)) tag.read();
  // In the same turn: nothing has come in between.
  expect([before, tags.missingRobots()]).toEqual([before, before]);
  expect(before).toBeGreaterThan(0);
  plc = await openSession(running.url);
});

it("is in the order of the names, also with what comes later", () => {
  running.server.write({ changes: [conveyorChange("r1", 3)], events: [] });
  for (const group of running.server.tags.groups()) {
    const names = group.tags().map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
  }
});
