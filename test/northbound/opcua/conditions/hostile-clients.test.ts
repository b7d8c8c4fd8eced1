import {
  AttributeIds,
  ContentFilter,
  CreateMonitoredItemsRequest,
  type CreateMonitoredItemsResponse,
  constructEventFilter,
  DataType,
  DeleteMonitoredItemsRequest,
  EventFilter,
  FilterOperator,
  LiteralOperand,
  ModifyMonitoredItemsRequest,
  type ModifyMonitoredItemsResponse,
  MonitoringMode,
  Range,
  resolveNodeId,
  SimpleAttributeOperand,
  TimestampsToReturn,
  VariantArrayType,
  type VariantOptions,
} from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../../src/platform/clock.ts";
import { batteryChange } from "../changes.ts";
import { listen as listenTo } from "../events/event-listener.ts";
import { itemParameters, literal, message, openSubscription, send, step, where } from "../filter-requests.ts";
import type { Caller } from "../opcua-harness.ts";
import {
  type ConditionsHarness,
  call,
  callRefresh,
  commentOf,
  eventIdOf,
  listen,
  robot,
  startConditions,
} from "./conditions-harness.ts";

const SERVER = "i=2253";
const GATEWAY = "ns=2;s=Gateway";
const robots = Array.from({ length: 30 }, (_, index) => `r${index}`);
const addComment = "ConditionType_AddComment";
let harness: ConditionsHarness;
let ann: Caller;
let hurry = 1;

/** The system's clock, but for its speed. */
function hurriedClock(): Clock {
  let [atMs, lookedAtMs] = [0, systemClock.monotonicMs()];
  return {
    ...systemClock,
    monotonicMs() {
      const nowMs = systemClock.monotonicMs();
      atMs += (nowMs - lookedAtMs) * hurry;
      lookedAtMs = nowMs;
      return atMs;
    },
    after: (delayMs, task) => systemClock.after(delayMs / hurry, task),
  };
}

beforeEach(async () => {
  hurry = 1;
  harness = await startConditions(undefined, { robotIds: robots, clock: hurriedClock() });
  ann = await harness.client("ann");
});
afterEach(() => harness[Symbol.asyncDispose]());

const many = (count: number) => Array.from({ length: count }, () => message);
const select = (count: number) => new EventFilter({ selectClauses: many(count) });

/** Creates an item for each filter, in one request. @returns their statuses, ids and queues */
async function monitor(
  caller: Caller,
  subscriptionId: number,
  filters: readonly EventFilter[],
  { nodeId = SERVER, queueSize = 10 } = {},
) {
  const itemsToCreate = filters.map((filter) => ({
    itemToMonitor: { nodeId, attributeId: AttributeIds.EventNotifier },
    monitoringMode: MonitoringMode.Reporting,
    requestedParameters: { ...itemParameters(filter), queueSize },
  }));
  const timestampsToReturn = TimestampsToReturn.Both;
  const request = new CreateMonitoredItemsRequest({ subscriptionId, timestampsToReturn, itemsToCreate });
  const { results } = (await send(caller, request)) as CreateMonitoredItemsResponse;
  return (results ?? []).map(({ statusCode, monitoredItemId, revisedQueueSize }) => ({
    ...{ status: statusCode.name, id: monitoredItemId, queue: revisedQueueSize },
  }));
}
const tooMany = "BadTooManyMonitoredItems";
const statuses = (items: ReadonlyArray<{ readonly status: string }>) => items.map(({ status }) => status);

async function modify(caller: Caller, subscriptionId: number, monitoredItemId: number, filter: EventFilter) {
  const request = new ModifyMonitoredItemsRequest({
    ...{ subscriptionId, timestampsToReturn: TimestampsToReturn.Both },
    itemsToModify: [{ monitoredItemId, requestedParameters: itemParameters(filter) }],
  });
  const { results } = (await send(caller, request)) as ModifyMonitoredItemsResponse;
  return results?.[0]?.statusCode.name;
}

function raiseAll(): void {
  for (const robotId of robots)
    harness.registry.state(robot(robotId), "ROBOT_LOST", { holds: true, text: "found" });
  harness.publish();
}

describe("a refresh", () => {
  it("waits once for a client that fetches nothing, and not again for each condition", async () => {
    raiseAll();
    const subscriptionId = await openSubscription(ann);
    await monitor(ann, subscriptionId, [select(3)]);
    const status = async () => (await callRefresh(ann, subscriptionId)).name;
    expect([await status(), await status()]).toEqual(["Good", "BadRefreshInProgress"]);
    hurry = 20;
    await expect.poll(status, { timeout: 8_000, interval: 100 }).toBe("Good");
  });

  it("ends with its subscription, and leaves the others alone", async () => {
    raiseAll();
    const other = await listen(await harness.client("tv"));
    for (let round = 0; round < 3; round += 1) {
      const { subscription } = await listen(ann, { queueSize: 10 });
      const refreshed = callRefresh(ann, subscription.subscriptionId);
      await subscription.terminate();
      expect(["Good", "BadSubscriptionIdInvalid"]).toContain((await refreshed).name);
    }
    expect(await other.refresh()).toHaveLength(robots.length);
    expect(other.events).toHaveLength(robots.length + 2);
  });
});

describe("a filter", () => {
  const nodeId = literal({ dataType: DataType.NodeId, value: resolveNodeId(SERVER) });
  const condition = new SimpleAttributeOperand({
    ...{ typeDefinitionId: resolveNodeId("ConditionType"), attributeId: AttributeIds.Value },
    browsePath: [{ name: "ConditionClassId" }],
  });

  it("of more than 1,000 clauses or operands is refused, and is not taken by a change either", async () => {
    const longList = step(FilterOperator.InList, condition, ...Array.from({ length: 1_000 }, () => nodeId));
    const filters = [select(1_001), where(longList), select(1_000)];
    const subscriptionId = await openSubscription(ann);
    const invalid = "BadEventFilterInvalid";
    expect(statuses(await monitor(ann, subscriptionId, filters))).toEqual([invalid, invalid, "Good"]);
    const listener = await listen(ann);
    const { subscription, item } = listener;
    for (const filter of filters.slice(0, 2))
      expect(await modify(ann, subscription.subscriptionId, item.monitoredItemId ?? 0, filter)).toBe(invalid);
    harness.set(robot("r1"), "ROBOT_LOST", true);
    expect(await listener.until(({ ConditionName }) => ConditionName === "ROBOT_LOST")).toMatchObject({
      SourceName: "r1",
    });
  });

  it.each([
    ["elements", 65, 1],
    ["bytes", 18, 4_000],
  ])("of too many %s is refused", async (_what, elements, length) => {
    const text = literal({ dataType: DataType.String, value: "x".repeat(length) });
    const steps = Array.from({ length: elements }, () => step(FilterOperator.Equals, message, text));
    const subscriptionId = await openSubscription(ann);
    const filters = [where(...steps), where(...steps.slice(0, -2))];
    const expected = ["BadEventFilterInvalid", "Good"];
    expect(statuses(await monitor(ann, subscriptionId, filters))).toEqual(expected);
  });

  it("with a literal of more than 4 KiB is refused", async () => {
    const text = literal({ dataType: DataType.String, value: "x".repeat(4_096) });
    const subscriptionId = await openSubscription(ann);
    const filter = where(step(FilterOperator.Equals, message, text));
    expect(statuses(await monitor(ann, subscriptionId, [filter]))).toEqual(["BadFilterLiteralInvalid"]);
  });

  it.each<[string, VariantOptions]>([
    ["a structure", { dataType: DataType.ExtensionObject, value: new Range({ low: 0, high: 1 }) }],
    ["a status", { dataType: DataType.StatusCode, value: 0 }],
  ])("that compares with %s is refused: nothing equals it", async (_what, value) => {
    const filter = where(step(FilterOperator.Equals, message, literal(value)));
    const subscriptionId = await openSubscription(ann);
    expect(statuses(await monitor(ann, subscriptionId, [filter]))).toEqual(["BadFilterLiteralInvalid"]);
  });

  it.each<[string, VariantOptions]>([
    ["Int64", { dataType: DataType.Int64, arrayType: VariantArrayType.Scalar, value: [0, 600] }],
    ["UInt64", { dataType: DataType.UInt64, arrayType: VariantArrayType.Scalar, value: [0, 600] }],
    ["Float", { dataType: DataType.Float, value: 600 }],
  ])("compares with a number of the type %s", async (_type, value) => {
    const severity = new SimpleAttributeOperand({
      ...{ typeDefinitionId: resolveNodeId("BaseEventType"), attributeId: AttributeIds.Value },
      browsePath: [{ name: "Severity" }],
    });
    const elements = [step(FilterOperator.GreaterThanOrEqual, severity, new LiteralOperand({ value }))];
    const urgent = await listen(ann, { whereClause: new ContentFilter({ elements }) });
    harness.set(robot("r1"), "ROBOT_LOST", true);
    harness.set({ kind: "gateway" }, "DISK_FULL", true);
    expect(await urgent.until(() => true)).toMatchObject({ ConditionName: "DISK_FULL" });
  });
});

describe("many items of events", () => {
  it("of a user have a common bound, at one object; another user has its own", async () => {
    const subscriptionId = await openSubscription(ann);
    const large = Array.from({ length: 11 }, () => select(900));
    const items = await monitor(ann, subscriptionId, large);
    expect(statuses(items)).toEqual([...Array(10).fill("Good"), tooMany]);
    expect(statuses(await monitor(ann, subscriptionId, [select(900)], { nodeId: GATEWAY }))).toEqual([
      "Good",
    ]);
    const small = await monitor(ann, subscriptionId, [select(1)], { nodeId: GATEWAY });
    expect(await modify(ann, subscriptionId, small[0]?.id ?? 0, select(900))).toBe("Good");
    const tv = await harness.client("tv");
    expect(statuses(await monitor(tv, await openSubscription(tv), [select(900)]))).toEqual(["Good"]);
    const monitoredItemIds = [items[0]?.id ?? 0];
    await send(ann, new DeleteMonitoredItemsRequest({ subscriptionId, monitoredItemIds }));
    expect(statuses(await monitor(ann, subscriptionId, [select(900)]))).toEqual(["Good"]);
    const [little] = await monitor(ann, subscriptionId, [select(1)]);
    expect(await modify(ann, subscriptionId, little?.id ?? 0, select(900))).toBe(tooMany);
    expect(await modify(ann, subscriptionId, little?.id ?? 0, select(2))).toBe("Good");
  });

  it("count for their user in each session, and when their session has ended", async () => {
    const large = Array.from({ length: 10 }, () => select(900));
    const good = Array(10).fill("Good");
    expect(statuses(await monitor(ann, await openSubscription(ann), large))).toEqual(good);
    const again = await harness.client("ann");
    const subscriptionId = await openSubscription(again);
    expect(statuses(await monitor(again, subscriptionId, [select(900)]))).toEqual([tooMany]);
    // Two minutes are four seconds.
    hurry = 30;
    await ann.session.close(false);
    expect(statuses(await monitor(again, subscriptionId, [select(900)]))).toEqual([tooMany]);
    const status = async () => statuses(await monitor(again, subscriptionId, [select(900)]));
    await expect.poll(status, { timeout: 8_000, interval: 100 }).toEqual(["Good"]);
  });

  it("have a common bound for the size of their filters", async () => {
    const text = literal({ dataType: DataType.String, value: "x".repeat(4_000) });
    const long = where(...Array.from({ length: 15 }, () => step(FilterOperator.Equals, message, text)));
    const subscriptionId = await openSubscription(ann);
    const items: string[] = [];
    const objects = [SERVER, GATEWAY, ...robots.map((name) => `ns=2;s=Robots.${name}`)].slice(0, 11);
    for (const nodeId of objects)
      items.push(...statuses(await monitor(ann, subscriptionId, Array(61).fill(long), { nodeId })));
    // Each is 60 kB: 10 + 1 + 30 fields, and 119 for its size.
    expect(items.filter((status) => status === "Good")).toHaveLength(625);
    expect(new Set(items)).toEqual(new Set(["Good", tooMany]));
  });

  it("have queues that are the shorter, the more each event has", async () => {
    const subscriptionId = await openSubscription(ann);
    const filters = [select(4), select(1_000)];
    const [short, long] = await monitor(ann, subscriptionId, filters, { queueSize: 5_000 });
    expect(short?.queue).toBe(5_000);
    expect(long?.queue).toBeLessThanOrEqual(400);
  });

  it("that others trigger keep no more than their queue", async () => {
    const subscription = await ann.session.createSubscription2({
      ...{ requestedPublishingInterval: 50, requestedLifetimeCount: 1_000, requestedMaxKeepAliveCount: 100 },
      publishingEnabled: false,
    });
    const watch = (mode: MonitoringMode) =>
      subscription.monitor(
        { nodeId: "ns=2;s=Robots.r1.Battery.ChargePercent", attributeId: AttributeIds.Value },
        { samplingInterval: 0, queueSize: 5, discardOldest: true },
        TimestampsToReturn.Both,
        mode,
      );
    const [first, second] = [await watch(MonitoringMode.Reporting), await watch(MonitoringMode.Sampling)];
    const values: number[] = [];
    second.on("changed", (value) => void values.push(Number(value.value.value)));
    const link = async () =>
      (await subscription.setTriggering(first, [second], null)).addResults?.map(({ name }) => name);
    expect([await link(), await link()]).toEqual([["Good"], ["BadMonitoredItemIdInvalid"]]);
    for (let percent = 1; percent <= 40; percent += 1) {
      harness.running.server.write({ changes: [batteryChange("r1", percent)], events: [] });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await subscription.setPublishingMode(true);
    await expect.poll(() => values.at(-1)).toBe(40);
    expect(values.length).toBeLessThanOrEqual(10);
  });
});

describe("the audit", () => {
  it("shows the begin of what a client has sent, and no megabyte of it", async () => {
    const fields = ["SourceNode", "SourceName", "Message", "MethodId", "Comment", "InputArguments"];
    const eva = await harness.client("eva");
    const filter = constructEventFilter([...fields, "EventType"]);
    const audit = await listenTo(eva, SERVER, fields, filter);
    harness.set(robot("r1"), "ROBOT_LOST", true);
    const [alarm] = harness.registry.all();
    const event = eventIdOf({ EventId: `${alarm?.id}.1.1` });
    const long = "x".repeat(1_000_000);
    const locale = { dataType: DataType.LocalizedText, value: { locale: long, text: "seen" } };
    expect(await call(ann, "ns=2;s=Robots.r1.Alarms.ROBOT_LOST", addComment, event, locale)).toBe("Good");
    expect(await call(ann, `ns=2;s=Robots.${long}`, addComment, event, commentOf("x"))).toBe(
      "BadNodeIdUnknown",
    );
    await ann.session.call({ objectId: GATEWAY, methodId: `ns=2;s=${long}`, inputArguments: [] });
    await ann.session.write({
      ...{ nodeId: `ns=2;s=${long}`, attributeId: AttributeIds.Value },
      value: { value: { dataType: DataType.Boolean, value: true } },
    });
    const services = ["Method/AddComment", "Method/AddComment", "Attribute/Call", "Attribute/Write"];
    const seen = () => audit.events.filter(({ SourceName }) => services.includes(String(SourceName)));
    await expect.poll(() => seen().map(({ SourceName }) => SourceName)).toEqual(services);
    expect(JSON.stringify(seen()).length).toBeLessThan(10_000);
  });
});
