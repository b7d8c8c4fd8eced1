import {
  AttributeIds,
  BrowseNextRequest,
  BrowseNextResponse,
  BrowseRequest,
  BrowseResponse,
  CallRequest,
  CallResponse,
  CreateMonitoredItemsRequest,
  CreateMonitoredItemsResponse,
  CreateSubscriptionRequest,
  CreateSubscriptionResponse,
  DataType,
  DeleteMonitoredItemsRequest,
  DeleteMonitoredItemsResponse,
  HistoryReadRequest,
  HistoryReadResponse,
  ModifyMonitoredItemsRequest,
  ModifyMonitoredItemsResponse,
  MonitoringMode,
  makeBrowsePath,
  PublishRequest,
  ReadRawModifiedDetails,
  ReadRequest,
  ReadResponse,
  RegisterNodesRequest,
  RegisterNodesResponse,
  resolveNodeId,
  SetMonitoringModeRequest,
  SetMonitoringModeResponse,
  SetTriggeringRequest,
  StatusCodes,
  TimestampsToReturn,
  TranslateBrowsePathsToNodeIdsRequest,
  TranslateBrowsePathsToNodeIdsResponse,
  UnregisterNodesRequest,
  WriteRequest,
  WriteResponse,
} from "node-opcua";
import { describe, expect, it } from "vitest";
import { MOST_HISTORIES } from "../../../src/northbound/opcua/node-opcua/large-requests.ts";
import { watchLoop } from "../../support/loop-probe.ts";
import {
  type Answer,
  aboutOneServer,
  browse,
  client,
  ITEMS,
  items,
  LONGEST_TURN_MS,
  manyTimesOneRobot,
  openClient,
  type Request,
  ROBOTS,
  tag,
  timed,
} from "./large-requests-harness.ts";
import { encoded } from "./raw-client.ts";

aboutOneServer();

async function subscribe(): Promise<number> {
  const request = new CreateSubscriptionRequest({
    requestHeader: client.requestHeader,
    requestedPublishingInterval: 3_600_000,
    requestedLifetimeCount: 1_000,
    requestedMaxKeepAliveCount: 100,
    publishingEnabled: true,
  });
  const answer = await client.channel.call(request);
  return answer?.read(new CreateSubscriptionResponse()).subscriptionId ?? 0;
}

describe("a request for 10,000", () => {
  it("references of one robot in all directions is answered as far as an answer has room", async () => {
    const [answer, longestMs] = await timed(manyTimesOneRobot());
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
    expect(answer.bytes).toBeLessThan(5_000_000);
    const results = answer.read(new BrowseResponse()).results ?? [];
    expect(results).toHaveLength(ITEMS);
    const [first] = results;
    const good = results.filter(({ statusCode }) => statusCode === StatusCodes.Good);
    expect(good.length).toBeGreaterThan(500);
    for (const { references } of good) expect(references).toHaveLength(first?.references?.length ?? 0);
    expect(results.at(-1)?.statusCode).toBe(StatusCodes.BadNoContinuationPoints);
  });

  it("of them, from six clients at once, lets a seventh have its answers", async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => openClient()));
    const bodies = clients.map(({ requestHeader }) =>
      encoded(
        new BrowseRequest({ requestHeader, nodesToBrowse: items(() => browse("ns=2;s=Robots.r1"), 300) }),
      ),
    );
    const read = encoded(
      new ReadRequest({
        requestHeader: client.requestHeader,
        nodesToRead: [{ nodeId: tag(1), attributeId: AttributeIds.Value }],
      }),
    );
    const rssBefore = process.memoryUsage().rss;
    const probe = watchLoop();
    let isDone = false;
    const answers = Promise.all(clients.map(({ channel }, index) => channel.ask(bodies[index] ?? read)));
    const all = answers.finally(() => {
      isDone = true;
    });
    let readMeanwhile = 0;
    const began = process.cpuUsage();
    for (; !isDone; readMeanwhile += 1) await client.channel.ask(read);
    probe.stop();
    const { user, system } = process.cpuUsage(began);
    // A read waits for one time slice of each of the six, in milliseconds of the processor.
    expect((user + system) / 1_000 / readMeanwhile).toBeLessThan(60);
    expect((await all).map((answer) => answer?.status)).toEqual(clients.map(() => 0));
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(300_000_000);
    for (const { channel } of clients) channel.hangUp();
  });

  const header = () => ({ requestHeader: client.requestHeader });
  const one = (results: ReadonlyArray<{ readonly name: string }> | null | undefined) => [
    results?.length,
    ...new Set(results?.map(({ name }) => name)),
  ];
  const statuses = (results: ReadonlyArray<{ readonly statusCode: { readonly name: string } }> | null) =>
    one(results?.map(({ statusCode }) => statusCode));

  it.each<[string, () => Request, (answer: Answer) => unknown, string, number?]>([
    [
      "Read",
      () =>
        new ReadRequest({
          ...header(),
          nodesToRead: items((index) => ({ nodeId: tag(index), attributeId: AttributeIds.Value })),
        }),
      (answer) => statuses(answer.read(new ReadResponse()).results),
      "BadWaitingForInitialData",
    ],
    [
      "HistoryRead",
      () =>
        new HistoryReadRequest({
          ...header(),
          historyReadDetails: new ReadRawModifiedDetails({ startTime: new Date(1), endTime: new Date(2) }),
          nodesToRead: items((index) => ({ nodeId: tag(index) }), MOST_HISTORIES),
          timestampsToReturn: TimestampsToReturn.Both,
        }),
      (answer) => statuses(answer.read(new HistoryReadResponse()).results),
      "GoodNoData",
      MOST_HISTORIES,
    ],
    [
      "HistoryRead of whole histories",
      () =>
        new HistoryReadRequest({
          ...header(),
          historyReadDetails: new ReadRawModifiedDetails({ startTime: new Date(1), endTime: new Date() }),
          nodesToRead: items((index) => ({ nodeId: tag(index) }), MOST_HISTORIES),
          timestampsToReturn: TimestampsToReturn.Both,
        }),
      (answer) => statuses(answer.read(new HistoryReadResponse()).results),
      "Good",
      MOST_HISTORIES,
    ],
    [
      "Write",
      () =>
        new WriteRequest({
          ...header(),
          nodesToWrite: items((index) => ({
            nodeId: `ns=2;s=Robots.r${index % ROBOTS}.MissionSlot.Destination`,
            attributeId: AttributeIds.Value,
            value: { value: { dataType: DataType.String, value: "Dock A" } },
          })),
        }),
      (answer) => one(answer.read(new WriteResponse()).results),
      "Good",
    ],
    [
      "Call",
      () =>
        new CallRequest({
          ...header(),
          methodsToCall: items(
            (index) => ({
              objectId: `ns=2;s=Robots.r${index % ROBOTS}`,
              methodId: "ns=2;s=Operations.QueryOutcome",
              inputArguments: [{ dataType: DataType.String, value: "nobody's" }],
            }),
            1_000,
          ),
        }),
      (answer) => statuses(answer.read(new CallResponse()).results),
      "Good",
      1_000,
    ],
    [
      "TranslateBrowsePathsToNodeIds",
      () =>
        new TranslateBrowsePathsToNodeIdsRequest({
          ...header(),
          browsePaths: items((index) =>
            makeBrowsePath("ns=2;s=Robots", `/2:r${index % ROBOTS}/2:Battery/2:ChargePercent`),
          ),
        }),
      (answer) => statuses(answer.read(new TranslateBrowsePathsToNodeIdsResponse()).results),
      "Good",
    ],
    [
      "BrowseNext",
      () => new BrowseNextRequest({ ...header(), continuationPoints: items(() => Buffer.from("none")) }),
      (answer) => statuses(answer.read(new BrowseNextResponse()).results),
      "BadContinuationPointInvalid",
    ],
  ])("%s is answered whole and in turns", async (_name, request, read, status, count = ITEMS) => {
    const [answer, longestMs] = await timed(request());
    expect(read(answer)).toEqual([count, status]);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("RegisterNodes is answered whole and in turns", async () => {
    const request = new RegisterNodesRequest({
      ...header(),
      nodesToRegister: items((index) => resolveNodeId(tag(index))),
    });
    const [answer, longestMs] = await timed(request);
    const handles = answer.read(new RegisterNodesResponse()).registeredNodeIds ?? [];
    expect(handles).toHaveLength(ITEMS);
    expect(new Set(handles.map(String)).size).toBe(ROBOTS);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("UnregisterNodes forgets all in one turn", async () => {
    const nodesToUnregister = items((index) => resolveNodeId(tag(index)));
    const [answer, longestMs] = await timed(new UnregisterNodesRequest({ ...header(), nodesToUnregister }));
    expect(answer.status).toBe(StatusCodes.Good.value);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it.each([
    [
      "SetTriggering",
      () =>
        new SetTriggeringRequest({
          ...header(),
          subscriptionId: 1,
          triggeringItemId: 1,
          linksToAdd: items((index) => index),
          linksToRemove: items((index) => index),
        }),
    ],
    [
      "Publish",
      () =>
        new PublishRequest({
          ...header(),
          subscriptionAcknowledgements: items((index) => ({ subscriptionId: 1, sequenceNumber: index })),
        }),
    ],
  ])("%s is refused", async (_name, request) => {
    const [answer, longestMs] = await timed(request());
    expect(answer.status).toBe(StatusCodes.BadTooManyOperations.value);
    expect(longestMs).toBeLessThan(LONGEST_TURN_MS);
  });

  it("monitored items are made, changed and removed in turns", async () => {
    const subscriptionId = await subscribe();
    const requestedParameters = (clientHandle: number) => ({
      clientHandle,
      samplingInterval: 100,
      queueSize: 1,
    });
    const create = new CreateMonitoredItemsRequest({
      ...header(),
      subscriptionId,
      timestampsToReturn: TimestampsToReturn.Both,
      itemsToCreate: items((index) => ({
        itemToMonitor: { nodeId: tag(index), attributeId: AttributeIds.Value },
        monitoringMode: MonitoringMode.Reporting,
        requestedParameters: requestedParameters(index),
      })),
    });
    const [created, createMs] = await timed(create);
    const results = created.read(new CreateMonitoredItemsResponse()).results ?? [];
    expect(statuses(results)).toEqual([ITEMS, "Good"]);
    const monitoredItemIds = results.map(({ monitoredItemId }) => monitoredItemId);
    expect(new Set(monitoredItemIds).size).toBe(ITEMS);

    const itemsToModify = monitoredItemIds.map((monitoredItemId, index) => ({
      monitoredItemId,
      requestedParameters: requestedParameters(index),
    }));
    const timestampsToReturn = TimestampsToReturn.Both;
    const [modified, modifyMs] = await timed(
      new ModifyMonitoredItemsRequest({ ...header(), subscriptionId, timestampsToReturn, itemsToModify }),
    );
    expect(statuses(modified.read(new ModifyMonitoredItemsResponse()).results)).toEqual([ITEMS, "Good"]);

    const monitoringMode = MonitoringMode.Sampling;
    const [set, setMs] = await timed(
      new SetMonitoringModeRequest({ ...header(), subscriptionId, monitoringMode, monitoredItemIds }),
    );
    expect(one(set.read(new SetMonitoringModeResponse()).results)).toEqual([ITEMS, "Good"]);

    const remove = new DeleteMonitoredItemsRequest({ ...header(), subscriptionId, monitoredItemIds });
    const [removed, removeMs] = await timed(remove, 1);
    expect(one(removed.read(new DeleteMonitoredItemsResponse()).results)).toEqual([ITEMS, "Good"]);
    expect(Math.max(createMs, modifyMs, setMs, removeMs)).toBeLessThan(LONGEST_TURN_MS);
  });
});
