import {
  AttributeIds,
  type ClientMonitoredItem,
  type ClientSubscription,
  constructEventFilter,
  type DataValue,
  type ReadValueIdOptions,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { batteryChange, mission, missionChange, queueOf, receivedAtMs } from "./changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let caller: Caller;
let subscription: ClientSubscription;

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }],
  });
  caller = await openSession(running.url);
  subscription = await caller.session.createSubscription2({
    requestedPublishingInterval: 20,
    requestedLifetimeCount: 1000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
});
afterAll(async () => {
  await subscription.terminate();
  await caller.close();
  await running.stop();
});

interface Watched {
  readonly item: ClientMonitoredItem;
  readonly values: DataValue[];
  /** Resolves when so many notifications have come in all. */
  count(least: number): Promise<void>;
}

function watch(name: string, samplingInterval: number): Promise<Watched> {
  return watchNode(`ns=2;s=${name}`, samplingInterval);
}

async function watchNode(nodeId: string, samplingInterval: number): Promise<Watched> {
  const item = await subscription.monitor(
    { nodeId, attributeId: AttributeIds.Value },
    { samplingInterval, queueSize: 1_000, discardOldest: true },
    TimestampsToReturn.Both,
  );
  const values: DataValue[] = [];
  let wake = () => {};
  item.on("changed", (value: DataValue) => {
    values.push(value);
    wake();
  });
  return {
    item: item as ClientMonitoredItem,
    values,
    async count(least) {
      while (values.length < least) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

/** Which status codes a request for so many items of one node gets. */
async function statusOfItems(itemToMonitor: ReadValueIdOptions, count: number): Promise<string[]> {
  const isValue = itemToMonitor.attributeId === AttributeIds.Value;
  const filter = isValue ? null : constructEventFilter(["Message"]);
  const group = await subscription.monitorItems(
    Array.from({ length: count }, () => itemToMonitor),
    { samplingInterval: 0, queueSize: 1, filter },
    TimestampsToReturn.Both,
  );
  return [...new Set(group.monitoredItems.map((item) => item.statusCode.name))];
}

describe("a subscription", () => {
  it("that asks for 100 ms is told that changes are reported, and gets every one", async () => {
    const watched = await watch("Robots.r1.Battery.ChargePercent", 100);
    expect(watched.item.result?.revisedSamplingInterval).toBe(0);
    await watched.count(1);
    for (let percent = 1; percent <= 50; percent += 1) {
      running.server.write({ changes: [batteryChange("r1", percent)], events: [] });
    }
    await watched.count(51);
    const numbers = watched.values.slice(1).map((value) => value.value.value);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_unused, index) => index + 1));
  });

  it("hears nothing of a value that was written again", async () => {
    const state = await watch("Robots.r1.Mission.State", 100);
    const sequel = await watch("Robots.r1.Mission.MissionId", 100);
    await Promise.all([state.count(1), sequel.count(1)]);
    for (const missionId of ["m1", "m2", "m3"]) {
      running.server.write({ changes: [missionChange("r1", queueOf(mission(missionId)))], events: [] });
    }
    await sequel.count(4);
    expect(state.values.map((value) => value.value.value)).toEqual([null, 2]);
  });

  it("hears of a change of quality, with the last value", async () => {
    const watched = await watch("Robots.r1.Mission.MissionId", 100);
    await watched.count(1);
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m3")), "stale")], events: [] });
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m3")), "lost")], events: [] });
    await watched.count(3);
    expect(watched.values.slice(1).map((value) => [value.statusCode.name, value.value.value])).toEqual([
      ["UncertainLastUsableValue", "m3"],
      ["BadNoCommunication", null],
    ]);
    expect(watched.values[1]?.sourceTimestamp?.getTime()).toBe(receivedAtMs - 250);
  });

  it("follows the text of an enum too", async () => {
    const watched = await watch("Robots.r1.Mission.State.ValueAsText", 100);
    await watched.count(1);
    const paused = queueOf(mission("m4", { state: "STATE_PAUSED" }));
    running.server.write({ changes: [missionChange("r1", paused)], events: [] });
    await watched.count(2);
    expect(watched.values[1]?.value.value.text).toBe("STATE_PAUSED");
    running.server.write({ changes: [missionChange("r1", paused, "stale")], events: [] });
    await watched.count(3);
    expect(watched.values[2]?.value.value.text).toBe("STATE_PAUSED");
    expect(watched.values[2]?.statusCode).toBe(StatusCodes.UncertainLastUsableValue);
  });

  it("is told the same when it registered its nodes", async () => {
    const [alias] = await caller.session.registerNodes(["ns=2;s=Robots.r1.Valid"]);
    if (alias === undefined) throw new Error("not registered");
    expect(alias.toString()).not.toContain("Robots");
    const watched = await watchNode(alias.toString(), 100);
    expect(watched.item.result?.revisedSamplingInterval).toBe(0);
  });

  it("may watch a node beside any number of others", async () => {
    const events = { nodeId: "ns=0;i=2253", attributeId: AttributeIds.EventNotifier };
    const value = { nodeId: "ns=2;s=Robots.r1.Valid", attributeId: AttributeIds.Value };
    expect(await statusOfItems(events, 11)).toEqual(["Good"]);
    expect(await statusOfItems(value, 5_001)).toEqual(["Good"]);
  });

  it("gets long queues for few items, and shorter ones for many", async () => {
    const item = { nodeId: "ns=2;s=Robots.r1.Valid", attributeId: AttributeIds.Value };
    const queuesOf = async (count: number, queueSize: number) => {
      const items = Array.from({ length: count }, () => item);
      const parameters = { samplingInterval: 0, queueSize };
      const group = await subscription.monitorItems(items, parameters, TimestampsToReturn.Both);
      const sizes = group.monitoredItems.map((one) => one.result?.revisedQueueSize ?? 0);
      return { sizes: [...new Set(sizes)], end: () => group.terminate() };
    };
    const few = await queuesOf(10, 5_000);
    expect(few.sizes).toEqual([5_000]);
    const many = await queuesOf(1_000, 5_000);
    expect(many.sizes).toHaveLength(1);
    expect(many.sizes[0]).toBeLessThanOrEqual(50);
    const more = await queuesOf(100, 5_000);
    expect(more.sizes).toEqual([10]);
    for (const { end } of [few, many, more]) await end();
  });

  it("stays without samples when it is modified", async () => {
    const watched = await watch("Robots.r1.Battery.Charging", 100);
    await watched.item.modify({ samplingInterval: 250, queueSize: 10, discardOldest: true });
    expect(watched.item.monitoringParameters.samplingInterval).toBe(0);
  });
});
