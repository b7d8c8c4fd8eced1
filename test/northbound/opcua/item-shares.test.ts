import {
  AttributeIds,
  type ClientSessionRawSubscriptionService,
  ModifyMonitoredItemsRequest,
  type ModifyMonitoredItemsResponse,
  MonitoringMode,
  TimestampsToReturn,
} from "node-opcua";
import { afterEach, expect, it } from "vitest";
import { defaultOpcUaLimits, type OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { send } from "./filter-requests.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const user = (name: string, role: OpcUaUser["role"]): OpcUaUser => ({
  name,
  role,
  number: null,
  secret: { kind: "plain", text: `${name} secret` },
});
const users = [user("eyes", "observer"), user("ears", "observer"), user("hands", "operator")];
let running: RunningServer;
const callers: Caller[] = [];

async function open(name: string): Promise<Caller> {
  const caller = await openSession(running.url, { user: { name, password: `${name} secret` } });
  callers.push(caller);
  return caller;
}
afterEach(async () => {
  for (const caller of callers.splice(0)) await caller.close().catch(() => {});
  await running.stop();
});

/** Makes items of a new subscription. @returns the id of the subscription, and the results */
async function watch({ session }: Caller, count: number, queueSize: number) {
  const raw = session as unknown as ClientSessionRawSubscriptionService;
  const { subscriptionId } = await raw.createSubscription({
    ...{ requestedPublishingInterval: 60_000, requestedLifetimeCount: 1_000, requestedMaxKeepAliveCount: 10 },
    ...{ maxNotificationsPerPublish: 0, publishingEnabled: true, priority: 0 },
  });
  const requestedParameters = { clientHandle: 1, samplingInterval: 1_000, queueSize, discardOldest: true };
  const { results } = await raw.createMonitoredItems({
    subscriptionId,
    timestampsToReturn: TimestampsToReturn.Both,
    itemsToCreate: Array.from({ length: count }, () => ({
      itemToMonitor: { nodeId: "i=2258", attributeId: AttributeIds.Value },
      monitoringMode: MonitoringMode.Reporting,
      requestedParameters,
    })),
  });
  return { subscriptionId, requestedParameters, results: results ?? [] };
}
const queues = async (caller: Caller) =>
  (await watch(caller, 20, 5_000)).results.map(({ revisedQueueSize }) => revisedQueueSize);
const statuses = async (caller: Caller, count: number) => [
  ...new Set((await watch(caller, count, 1)).results.map(({ statusCode }) => statusCode.name)),
];
const all = (queueSize: number) => Array.from({ length: 20 }, () => queueSize);

it("all sessions of a user share what its long queues hold, and leave every other its own", async () => {
  running = await startServer({ users });
  const first = await open("eyes");
  expect(await queues(first)).toEqual(all(5_000));
  expect(await queues(await open("eyes"))).toEqual(all(10));
  expect(await queues(await open("ears"))).toEqual(all(5_000));
  // 20,000 are kept for the clients without a user, which are engineers here.
  expect(await queues(await open("hands"))).toEqual(all(4_000));
  expect(await queues(await open("ears"))).toEqual(all(10));
  await first.close();
  expect(await queues(await open("eyes"))).toEqual(all(5_000));
});

it("a changed item cannot have a longer queue than a new one", async () => {
  running = await startServer({ users });
  await queues(await open("eyes"));
  const caller = await open("eyes");
  const { subscriptionId, requestedParameters, results } = await watch(caller, 2, 10);
  const request = new ModifyMonitoredItemsRequest({
    subscriptionId,
    timestampsToReturn: TimestampsToReturn.Both,
    itemsToModify: results.map(({ monitoredItemId }) => ({
      monitoredItemId,
      requestedParameters: { ...requestedParameters, queueSize: 5_000 },
    })),
  });
  const { results: modified } = (await send(caller, request)) as ModifyMonitoredItemsResponse;
  expect(modified?.map(({ revisedQueueSize }) => revisedQueueSize)).toEqual([10, 10]);
});

it("a user who has all the items that it may leaves some for every other", async () => {
  running = await startServer({ users, limits: { ...defaultOpcUaLimits, maxMonitoredItems: 100 } });
  expect(await statuses(await open("eyes"), 200)).toEqual(["Good", "BadTooManyMonitoredItems"]);
  expect(await statuses(await open("eyes"), 1)).toEqual(["BadTooManyMonitoredItems"]);
  expect(await statuses(await open("ears"), 12)).toEqual(["Good"]);
  expect(await statuses(await open("hands"), 25)).toEqual(["Good"]);
});
