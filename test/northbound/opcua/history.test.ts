import {
  AttributeIds,
  DataType,
  HistoryData,
  HistoryReadDetails,
  HistoryReadRequest,
  type HistoryReadRequestOptions,
  type HistoryReadResult,
  NumericRange,
  ReadAtTimeDetails,
  ReadEventDetails,
  ReadProcessedDetails,
  ReadRawModifiedDetails,
  TimestampsToReturn,
  VariableIds,
} from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BatteryTrends, HourName, HourTrends } from "../../../src/contracts/trends.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const NOON_MS = Date.UTC(2026, 0, 2, 12);
const CHARGE = "ns=2;s=Robots.AMR01.Battery.ChargePercent";
const STEP_MS = 30_000;
/** Two steps without a value; the present one is the last. */
const charges = [80, 79, null, null, 77, 76, 75];
const long = Array.from({ length: 1_201 }, (_, step) => step % 100);
/** Nothing was known of the robot's place in the second step. */
const places: Readonly<Record<HourName, readonly (number | null)[]>> = {
  missionState: [0, 2, 2, 5, 5],
  mapId: [7, null, 7, 7, 7],
  x: [1.5, null, 2.5, 3.5, 3.5],
  y: [-1, null, -2, -3, -3],
  heading: [0.25, null, 0.5, 0.75, 0.75],
};
let openCount = 0;
const open = () => {
  openCount += 1;
  return () => {
    openCount -= 1;
  };
};
const hour: HourTrends = {
  hourOf: (robotId, name) => ({
    sinceMs: NOON_MS,
    stepMs: STEP_MS,
    firstAtMs: NOON_MS,
    values: robotId === "r1" ? places[name] : [null],
  }),
  open,
};
const batteries: BatteryTrends = {
  batteryOf: (robotId) => ({
    sinceMs: NOON_MS,
    stepMs: STEP_MS,
    firstAtMs: NOON_MS,
    values: robotId === "r1" ? charges : robotId === "r3" ? long : charges.map(() => null),
  }),
  open,
};
const robots = [
  { robotId: "r1", alias: "AMR01", number: null, family: "cart", conveyorIndexes: [] },
  { robotId: "r2", alias: null, number: null, family: "cart", conveyorIndexes: [] },
  { robotId: "r3", alias: null, number: null, family: "cart", conveyorIndexes: [] },
] as const;
const at = (step: number) => new Date(NOON_MS + step * STEP_MS);
let running: RunningServer;
let caller: Caller;

beforeAll(async () => {
  running = await startServer({ robots }, { past: { batteries, hour } });
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  expect(openCount).toBe(2);
  await running.stop();
  expect(openCount).toBe(0);
});

const day = { startTime: at(-1_000), endTime: at(1_000) };

type NodeOptions = NonNullable<HistoryReadRequestOptions["nodesToRead"]>[number];
type RawOptions = ConstructorParameters<typeof ReadRawModifiedDetails>[0];

async function ask(
  details: RawOptions | HistoryReadDetails,
  node: NodeOptions = {},
  changed: HistoryReadRequestOptions = {},
) {
  const { results } = await caller.session.historyRead(
    new HistoryReadRequest({
      historyReadDetails:
        details instanceof HistoryReadDetails ? details : new ReadRawModifiedDetails(details),
      nodesToRead: [{ nodeId: CHARGE, ...node }],
      timestampsToReturn: TimestampsToReturn.Both,
      ...changed,
    }),
  );
  const [result] = results ?? [];
  if (result === undefined) throw new Error("there is no result");
  const values = result.historyData instanceof HistoryData ? (result.historyData.dataValues ?? []) : [];
  return {
    status: result.statusCode.name,
    point: result.continuationPoint,
    values,
    shown: values.map(({ sourceTimestamp, value, statusCode }) => [
      (Number(sourceTimestamp?.getTime()) - NOON_MS) / STEP_MS,
      statusCode.name === "Good" ? value.value : statusCode.name,
    ]),
  };
}

it("the charge of a robot has the values that are kept, and says where none was known", async () => {
  const { status, values, shown } = await ask(day);
  expect(status).toBe("Good");
  expect(shown).toEqual([
    [0, 80],
    [1, 79],
    [2, "BadDataLost"],
    [4, 77],
    [5, 76],
  ]);
  expect(values[0]?.value.dataType).toBe(DataType.Int32);
  expect(values[0]?.serverTimestamp).toEqual(at(0));
});

it.each([
  [
    "Mission.State",
    DataType.Int32,
    [
      [0, 0],
      [1, 2],
      [2, 2],
      [3, 5],
    ],
  ],
  [
    "Position.MapId",
    DataType.Int32,
    [
      [0, 7],
      [1, "BadDataLost"],
      [2, 7],
      [3, 7],
    ],
  ],
  [
    "Position.X",
    DataType.Double,
    [
      [0, 1.5],
      [1, "BadDataLost"],
      [2, 2.5],
      [3, 3.5],
    ],
  ],
  [
    "Position.Y",
    DataType.Double,
    [
      [0, -1],
      [1, "BadDataLost"],
      [2, -2],
      [3, -3],
    ],
  ],
  [
    "Position.Heading",
    DataType.Double,
    [
      [0, 0.25],
      [1, "BadDataLost"],
      [2, 0.5],
      [3, 0.75],
    ],
  ],
])("%s has the values of the last hour, with its type", async (tag, dataType, kept) => {
  const { status, values, shown } = await ask(day, { nodeId: `ns=2;s=Robots.AMR01.${tag}` });
  expect(status).toBe("Good");
  expect(shown).toEqual(kept);
  expect(values[0]?.value.dataType).toBe(dataType);
});

it("only a tag with a history says that it has one", async () => {
  const read = async (name: string, attributeId: AttributeIds) =>
    (await caller.session.read({ nodeId: `ns=2;s=Robots.AMR01.${name}`, attributeId })).value.value;
  const facts = async (name: string) => [
    await read(name, AttributeIds.AccessLevel),
    await read(name, AttributeIds.UserAccessLevel),
    await read(name, AttributeIds.Historizing),
  ];
  expect(await facts("Battery.ChargePercent")).toEqual([5, 5, true]);
  expect(await facts("Mission.State")).toEqual([5, 5, true]);
  expect(await facts("Position.X")).toEqual([5, 5, true]);
  expect(await facts("Battery.State")).toEqual([1, 1, false]);
  expect(await facts("Hold")).toEqual([3, 3, false]);
  const { HistoryServerCapabilities_AccessHistoryDataCapability: capability } = VariableIds;
  const data = await caller.session.read({ nodeId: `i=${capability}`, attributeId: AttributeIds.Value });
  expect(data.value.value).toBe(true);
});

it("a robot whose charge was never known has nothing", async () => {
  expect(await ask(day, { nodeId: "ns=2;s=Robots.r2.Battery.ChargePercent" })).toMatchObject({
    status: "GoodNoData",
    values: [],
  });
});

it("the latest value comes first if the start is after the end, and the number is a limit", async () => {
  const { shown, point } = await ask({ startTime: day.endTime, endTime: day.startTime, numValuesPerNode: 2 });
  expect(shown).toEqual([
    [5, 76],
    [4, 77],
  ]);
  expect(point?.length).toBeGreaterThan(0);
});

it("a continuation point gives the rest, and can be released", async () => {
  const details = { ...day, numValuesPerNode: 3 };
  const { point } = await ask(details);
  const rest = await ask(details, { continuationPoint: point });
  expect(rest.shown).toEqual([
    [4, 77],
    [5, 76],
  ]);
  expect(rest.point?.length ?? 0).toBe(0);
  const released = await ask(details, { continuationPoint: point }, { releaseContinuationPoints: true });
  expect(released).toMatchObject({ status: "Good", values: [] });
  const ofAnotherNode = { nodeId: "ns=2;s=Robots.AMR01.Mission.State", continuationPoint: point };
  const invented = [Buffer.from("of another server"), Buffer.alloc(8), Buffer.alloc(44)];
  for (const node of [ofAnotherNode, ...invented.map((continuationPoint) => ({ continuationPoint }))])
    expect(await ask(details, node)).toMatchObject({ status: "BadContinuationPointInvalid", values: [] });
});

it("the timestamps are those that the client asks for", async () => {
  const stamps = async (timestampsToReturn: TimestampsToReturn) => {
    const { status, values } = await ask(day, {}, { timestampsToReturn });
    return [status, values[0]?.sourceTimestamp != null, values[0]?.serverTimestamp != null];
  };
  expect(await stamps(TimestampsToReturn.Source)).toEqual(["Good", true, false]);
  expect(await stamps(TimestampsToReturn.Server)).toEqual(["Good", false, true]);
  expect(await stamps(TimestampsToReturn.Neither)).toEqual(["BadInvalidTimestampArgument", false, false]);
});

const unsupported = "BadHistoryOperationUnsupported";

it.each<[string, HistoryReadDetails]>([
  ["modified values", new ReadRawModifiedDetails({ ...day, isReadModified: true })],
  ["values at times", new ReadAtTimeDetails({ reqTimes: [at(0)] })],
  ["events", new ReadEventDetails({ ...day, numValuesPerNode: 1 })],
  ["aggregates", new ReadProcessedDetails({ ...day, processingInterval: 1_000, aggregateType: ["i=2342"] })],
])("%s are refused, for each node by itself", async (_, details) => {
  const nodeIds = [
    CHARGE,
    "i=2253",
    "i=2258",
    "ns=2;s=Robots.AMR01.Battery.State",
    "ns=2;s=Robots.nobody.Hold",
  ];
  const statuses = await statusesOf(details, nodeIds);
  expect(statuses).toEqual([unsupported, unsupported, unsupported, unsupported, "BadNodeIdUnknown"]);
});

it("less than two of start, end and number are refused", async () => {
  expect(await ask({ startTime: at(0) })).toMatchObject({ status: "BadInvalidArgument", values: [] });
});

it.each([
  [{ namespaceIndex: 0, name: "Default Binary" }, "Good"],
  [{ namespaceIndex: 0, name: "Default XML" }, "BadDataEncodingUnsupported"],
  [{ namespaceIndex: 7, name: "Nope" }, "BadDataEncodingInvalid"],
])("the data encoding %o is %s", async (dataEncoding, status) => {
  expect((await ask(day, { dataEncoding })).status).toBe(status);
});

it("an index range of a number has no data", async () => {
  const indexRange = new NumericRange("0:1");
  expect(await ask(day, { indexRange })).toMatchObject({ status: "BadIndexRangeNoData", values: [] });
});

it("what has no history is answered beside the charge", async () => {
  const nodeIds = [CHARGE, "ns=2;s=Robots.AMR01.Battery.State", "i=2253", "ns=2;s=Robots.AMR01", "i=2258"];
  const statuses = await statusesOf(new ReadRawModifiedDetails(day), [...nodeIds, `${CHARGE}9`]);
  expect(statuses).toEqual(["Good", ...Array(4).fill(unsupported), "BadNodeIdUnknown"]);
});

it("the nodes of a long request share the values of an answer, and continuation points give the rest", async () => {
  const historyReadDetails = new ReadRawModifiedDetails({ startTime: at(0), endTime: at(10_000) });
  const read = async (points: readonly Buffer[]) => {
    const nodeId = "ns=2;s=Robots.r3.Battery.ChargePercent";
    const nodesToRead = points.map((continuationPoint) => ({ nodeId, continuationPoint }));
    const timestampsToReturn = TimestampsToReturn.Source;
    const request = new HistoryReadRequest({ historyReadDetails, nodesToRead, timestampsToReturn });
    return (await caller.session.historyRead(request)).results ?? [];
  };
  const countOf = ({ historyData }: HistoryReadResult) =>
    historyData instanceof HistoryData ? historyData.dataValues?.length : undefined;
  const first = await read(Array(100).fill(Buffer.alloc(0)));
  expect(first.map(countOf)).toEqual(Array(100).fill(200));
  const [one] = first;
  const rest = await read([one?.continuationPoint ?? Buffer.alloc(0)]);
  expect(rest.map(countOf)).toEqual([1_000]);
  expect(rest[0]?.continuationPoint?.length ?? 0).toBe(0);
});

async function statusesOf(historyReadDetails: HistoryReadDetails, nodeIds: readonly string[]) {
  const nodesToRead = nodeIds.map((nodeId) => ({ nodeId }));
  const timestampsToReturn = TimestampsToReturn.Both;
  const request = new HistoryReadRequest({ historyReadDetails, nodesToRead, timestampsToReturn });
  const { results } = await caller.session.historyRead(request);
  return results?.map(({ statusCode }) => statusCode.name);
}
