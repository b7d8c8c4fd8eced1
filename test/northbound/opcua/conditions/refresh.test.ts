import {
  ContentFilter,
  ContentFilterElement,
  DataType,
  FilterOperator,
  LiteralOperand,
  MethodIds,
  resolveNodeId,
  SimpleAttributeOperand,
} from "node-opcua";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Caller } from "../opcua-harness.ts";
import {
  type ConditionsHarness,
  callRefresh,
  type Listener,
  listen,
  robot,
  type Shown,
  startConditions,
} from "./conditions-harness.ts";

const robots = Array.from({ length: 30 }, (_, index) => `r${index}`);
let harness: ConditionsHarness;
let ann: Caller;
beforeEach(async () => {
  harness = await startConditions(undefined, { robotIds: robots });
  ann = await harness.client("ann");
  for (const robotId of robots)
    harness.registry.state(robot(robotId), "ROBOT_LOST", { holds: true, text: "found" });
  harness.publish();
});
afterEach(() => harness[Symbol.asyncDispose]());

const conditionIds = (events: readonly Shown[]) => events.map(({ ConditionId }) => ConditionId).sort();
const expected = robots.map((robotId) => `ns=2;s=Robots.${robotId}.Alarms.ROBOT_LOST`).sort();
const refresh = { objectId: resolveNodeId("ConditionType") };
const subscriptionOf = ({ subscription }: Listener) => ({
  dataType: DataType.UInt32,
  value: subscription.subscriptionId,
});

it("gives all retained conditions, also to a client with a short queue", async () => {
  const short = await listen(ann, { queueSize: 1 });
  expect(conditionIds(await short.refresh())).toEqual(expected);
});

it("is asked for by a RefreshRequiredEvent when a queue was too short for conditions", async () => {
  const short = await listen(ann, { queueSize: 10 });
  for (const robotId of robots)
    harness.registry.state(robot(robotId), "ROBOT_LOST", { holds: true, text: "news" });
  harness.publish();
  await expect.poll(() => short.events.length).toBe(12);
  const [first, second, ...rest] = short.events;
  const types = ["EventQueueOverflowEventType", "RefreshRequiredEventType"];
  expect([first?.EventType, second?.EventType]).toEqual(types.map((name) => resolveNodeId(name).toString()));
  expect(rest.map(({ ConditionName }) => ConditionName)).toEqual(Array(10).fill("ROBOT_LOST"));
  expect(conditionIds(await short.refresh())).toEqual(expected);
});

it("is asked for at the end of a queue that discards its newest events", async () => {
  const short = await listen(ann, { queueSize: 10, discardOldest: false });
  for (const robotId of robots)
    harness.registry.state(robot(robotId), "ROBOT_LOST", { holds: true, text: "news" });
  harness.publish();
  await expect.poll(() => short.events.length).toBe(12);
  const types = ["EventQueueOverflowEventType", "RefreshRequiredEventType"];
  const last = short.events.slice(-2).map(({ EventType }) => EventType);
  expect(last).toEqual(types.map((name) => resolveNodeId(name).toString()));
  expect(short.events.slice(0, 10).map(({ ConditionName }) => ConditionName)).toEqual(
    Array(10).fill("ROBOT_LOST"),
  );
  expect(conditionIds(await short.refresh())).toEqual(expected);
});

it("is not seen by another subscription, and refuses another session's", async () => {
  const [own, other] = [await listen(ann), await listen(await harness.client("tv"))];
  expect(await own.refresh()).toHaveLength(robots.length);
  expect(other.events).toEqual([]);
  const status = await callRefresh(ann, other.subscription.subscriptionId);
  expect(status.name).toBe("BadUserAccessDenied");
  expect((await callRefresh(ann, 4_000_000_000)).name).toBe("BadSubscriptionIdInvalid");
  expect(await other.refresh()).toHaveLength(robots.length);
});

it("of an unknown subscription is refused as such, also after one has outlived its session", async () => {
  const tv = await harness.client("tv");
  await listen(tv);
  await tv.session.close(false);
  expect((await callRefresh(ann, 4_000_000_000)).name).toBe("BadSubscriptionIdInvalid");
});

it("is BadRefreshInProgress while one of the same subscription is not complete", async () => {
  const short = await listen(ann, { queueSize: 1 });
  const methodId = resolveNodeId(MethodIds.ConditionType_ConditionRefresh);
  const request = { ...refresh, methodId, inputArguments: [subscriptionOf(short)] };
  const results = await ann.session.call([request, request]);
  expect(results.map(({ statusCode }) => statusCode.name)).toEqual(["Good", "BadRefreshInProgress"]);
  const end = resolveNodeId("RefreshEndEventType").toString();
  await short.until(({ EventType }) => EventType === end);
  expect(await short.refresh()).toHaveLength(robots.length);
});

it("goes on when the client deletes an item that it waits for", async () => {
  const short = await listen(ann, { queueSize: 1 });
  const long = await listen(ann, { shared: short });
  const { subscriptionId } = short.subscription;
  await short.subscription.setPublishingMode(false);
  expect((await callRefresh(ann, subscriptionId)).name).toBe("Good");
  await short.item.terminate();
  await short.subscription.setPublishingMode(true);
  const [start, end] = ["RefreshStartEventType", "RefreshEndEventType"].map((name) =>
    resolveNodeId(name).toString(),
  );
  await long.until(({ EventType }) => EventType === end);
  const [first, ...rest] = long.events;
  expect(first?.EventType).toBe(start);
  expect(conditionIds(rest.slice(0, -1))).toEqual(expected);
});

it("of one item gives them to that item alone", async () => {
  const first = await listen(ann);
  const methodId = resolveNodeId(MethodIds.ConditionType_ConditionRefresh2);
  const call = async (itemId: number) => {
    const item = { dataType: DataType.UInt32, value: itemId };
    const result = await ann.session.call({
      ...refresh,
      methodId,
      inputArguments: [subscriptionOf(first), item],
    });
    return result.statusCode.name;
  };
  expect(await call(999_999)).toBe("BadMonitoredItemIdInvalid");
  expect(await call(first.item.monitoredItemId ?? 0)).toBe("Good");
  const end = resolveNodeId("RefreshEndEventType").toString();
  await first.until(({ EventType }) => EventType === end);
  expect(first.events).toHaveLength(robots.length + 2);
});

it("begins and ends for a client whose filter lets only urgent conditions through", async () => {
  const severity = new SimpleAttributeOperand({
    ...{ typeDefinitionId: resolveNodeId("BaseEventType"), attributeId: 13 },
    browsePath: [{ name: "Severity" }],
  });
  const least = new LiteralOperand({ value: { dataType: DataType.UInt16, value: 600 } });
  const whereClause = new ContentFilter({
    elements: [
      new ContentFilterElement({
        filterOperator: FilterOperator.GreaterThanOrEqual,
        filterOperands: [severity, least],
      }),
    ],
  });
  const urgent = await listen(ann, { whereClause });
  expect(await urgent.refresh()).toEqual([]);
  harness.set({ kind: "gateway" }, "DISK_FULL", true);
  expect(conditionIds(await urgent.refresh())).toEqual(["ns=2;s=Gateway.Alarms.DISK_FULL"]);
});
