import {
  AggregateFilter,
  AttributeIds,
  CreateMonitoredItemsRequest,
  type CreateMonitoredItemsResponse,
  DataChangeFilter,
  DataChangeTrigger,
  DeadbandType,
  ElementOperand,
  type EventFilter,
  FilterOperator,
  ModifyMonitoredItemsRequest,
  MonitoringMode,
  Range,
  StatusCodes,
  TimestampsToReturn,
  type VariantOptions,
} from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemParameters, literal, message, openSubscription, send, step, where } from "./filter-requests.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

let running: RunningServer;
let plc: Caller;
let subscriptionId: number;

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
  });
  plc = await openSession(running.url);
  subscriptionId = await openSubscription(plc);
});
afterAll(async () => {
  await plc.close();
  await running.stop();
});

const element = (index: number) => new ElementOperand({ index });

type Filter = EventFilter | DataChangeFilter | AggregateFilter | Range;

/** Monitors a node with the filter, as any client's stack sends it. @returns its status and id */
async function monitor(nodeId: string, attributeId: AttributeIds, filter: Filter) {
  const request = new CreateMonitoredItemsRequest({
    subscriptionId,
    timestampsToReturn: TimestampsToReturn.Both,
    itemsToCreate: [
      {
        itemToMonitor: { nodeId, attributeId },
        monitoringMode: MonitoringMode.Reporting,
        requestedParameters: itemParameters(filter),
      },
    ],
  });
  const answer = (await send(plc, request)) as CreateMonitoredItemsResponse;
  const { statusCode, monitoredItemId = 0 } = answer.results?.[0] ?? {};
  return { statusCode, monitoredItemId };
}

const watchEvents = (filter: EventFilter) => monitor("i=2253", AttributeIds.EventNotifier, filter);

let robots = 0;
/** Adds a robot, and waits for its nodes. That is an event, which the server compares with each filter. */
async function listRobot(): Promise<void> {
  robots += 1;
  const robotId = `new-${robots}`;
  running.server.write({
    changes: [{ kind: "robot", robotId, family: "cart", quality: "good" }],
    events: [],
  });
  const status = async () => (await plc.read(`Robots.${robotId}.RobotId`)).statusCode;
  await expect.poll(status).toBe(StatusCodes.Good);
}

describe("a filter of events", () => {
  it("is refused where each of its steps asks the next one twice: 40 of them are a billion", async () => {
    const steps = Array.from({ length: 40 }, (_, at) =>
      step(FilterOperator.Or, element(at + 1), element(at + 1)),
    );
    const bomb = where(...steps, step(FilterOperator.Equals, message, message));
    expect((await watchEvents(bomb)).statusCode).toBe(StatusCodes.BadEventFilterInvalid);
    await listRobot();
    expect((await plc.read("Robots.AMR01.RobotId")).statusCode).toBe(StatusCodes.Good);
  });

  it("is not taken by a change of the item either", async () => {
    const sane = await watchEvents(where());
    expect(sane.statusCode).toBe(StatusCodes.Good);
    const steps = Array.from({ length: 40 }, (_, at) =>
      step(FilterOperator.Equals, element(at + 1), element(at + 1)),
    );
    await send(
      plc,
      new ModifyMonitoredItemsRequest({
        subscriptionId,
        timestampsToReturn: TimestampsToReturn.Both,
        itemsToModify: [
          {
            monitoredItemId: sane.monitoredItemId,
            requestedParameters: itemParameters(
              where(...steps, step(FilterOperator.Equals, message, message)),
            ),
          },
        ],
      }),
    );
    await listRobot();
    expect((await plc.read("Robots.AMR01.RobotId")).statusCode).toBe(StatusCodes.Good);
  });

  it("that is too long to decode is refused, and not cut: it would let each event through", async () => {
    const never = step(FilterOperator.Equals, message, literal({ dataType: "String", value: "never" }));
    const long = where(...Array.from({ length: 20_001 }, () => never));
    await expect(watchEvents(long)).rejects.toThrow("BadEncodingLimitsExceeded");
  });

  it.each([
    ["no text", { dataType: "LocalizedText", value: null }],
    ["no time", { dataType: "DateTime", value: null }],
    ["no bytes", { dataType: "ByteString", value: null }],
  ] satisfies ReadonlyArray<readonly [string, VariantOptions]>)(
    "may compare with %s",
    async (_what, value) => {
      const odd = where(step(FilterOperator.GreaterThan, literal(value), literal(value)));
      await watchEvents(odd);
      await listRobot();
      expect((await plc.read("Robots.AMR01.RobotId")).statusCode).toBe(StatusCodes.Good);
    },
  );
});

describe("an aggregate", () => {
  it("is refused: there are none, and each value would pass for one", async () => {
    const average = new AggregateFilter({
      startTime: new Date(),
      aggregateType: "i=2342",
      processingInterval: 1000,
    });
    const { statusCode } = await monitor("ns=2;s=Robots.AMR01.AgeSeconds", AttributeIds.Value, average);
    expect(statusCode).toBe(StatusCodes.BadFilterNotAllowed);
  });
});

it("a structure that is no filter is refused: each value would pass", async () => {
  const none = new Range({ low: 0, high: 1 });
  const { statusCode } = await monitor("ns=2;s=Robots.AMR01.AgeSeconds", AttributeIds.Value, none);
  expect(statusCode).toBe(StatusCodes.BadFilterNotAllowed);
});

describe("a deadband", () => {
  const deadband = (deadbandType: DeadbandType, deadbandValue: number) =>
    new DataChangeFilter({ trigger: DataChangeTrigger.StatusValue, deadbandType, deadbandValue });

  it.each([
    ["percent", DeadbandType.Percent, Number.NaN],
    ["absolute", DeadbandType.Absolute, Number.NaN],
    ["absolute", DeadbandType.Absolute, -1],
  ])("is refused where it is no number above 0: %s", async (_name, type, value) => {
    const node = "ns=2;s=Robots.AMR01.Battery.ChargePercent";
    const { statusCode } = await monitor(node, AttributeIds.Value, deadband(type, value));
    expect(statusCode).toBe(StatusCodes.BadDeadbandFilterInvalid);
  });

  it("of a percentage is refused for a tag that has no EURange, and taken for one that has", async () => {
    const percent = deadband(DeadbandType.Percent, 5);
    const without = await monitor("ns=2;s=Robots.AMR01.AgeSeconds", AttributeIds.Value, percent);
    expect(without.statusCode).toBe(StatusCodes.BadMonitoredItemFilterUnsupported);
    const node = "ns=2;s=Robots.AMR01.Battery.ChargePercent";
    expect((await monitor(node, AttributeIds.Value, percent)).statusCode).toBe(StatusCodes.Good);
  });
});
