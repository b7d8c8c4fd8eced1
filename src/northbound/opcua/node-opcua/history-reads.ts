import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import {
  DataType,
  DataValue,
  HistoryData,
  HistoryReadDetails,
  type HistoryReadRequest,
  HistoryReadResult,
  type HistoryReadValueId,
  type ISessionContext,
  type NodeId,
  type OPCUAServer,
  PermissionType,
  type QualifiedName,
  ReadRawModifiedDetails,
  type StatusCode,
  StatusCodes,
  TimestampsToReturn,
} from "node-opcua";
import type { BatteryTrends, HourName, HourTrends, Trend } from "../../../contracts/trends.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { onAbort } from "../../../platform/on-abort.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { wholeLength } from "./large-requests.ts";

/** The robot of the nodes below a path. */
type RobotAt = (path: string) => RobotId | undefined;

/** What is kept of robots. */
export interface PastValues {
  readonly batteries: BatteryTrends;
  readonly hour: HourTrends;
}

/** A tag of which past values are kept. */
interface History {
  readonly dataType: DataType;
  readonly trendOf: (past: PastValues, robotId: RobotId) => Trend<number>;
}

const hourly = (dataType: DataType, name: HourName): History => ({
  dataType,
  trendOf: ({ hour }, robotId) => hour.hourOf(robotId, name),
});

/** By what stands behind the path of a robot. */
const histories: ReadonlyArray<readonly [string, History]> = [
  [
    ".Battery.ChargePercent",
    { dataType: DataType.Int32, trendOf: ({ batteries }, robotId) => batteries.batteryOf(robotId) },
  ],
  [".Mission.State", hourly(DataType.Int32, "missionState")],
  [".Position.MapId", hourly(DataType.Int32, "mapId")],
  [".Position.X", hourly(DataType.Double, "x")],
  [".Position.Y", hourly(DataType.Double, "y")],
  [".Position.Heading", hourly(DataType.Double, "heading")],
];
/** The first moment that OPC UA can name means none. */
const NO_TIME_MS = Date.UTC(1601, 0, 1);

/**
 * The limit of values in one answer, shared by its nodes: a longer one would delay the other requests of its
 * connection, also those by which a client checks it.
 */
const MOST_VALUES = 20_000;

/**
 * Answers HistoryRead in place of node-opcua, which refuses the whole request for one node that is no
 * variable. Raw values of some tags of robots have a history. A continuation point says where the rest
 * begins, so the server keeps none, and there is nothing to release. Values are recorded until the signal is
 * aborted. For an initialised server that does not listen yet.
 */
export function answerHistoryReads(
  { engine }: OPCUAServer,
  past: PastValues,
  robotAt: RobotAt,
  signal: AbortSignal,
): void {
  for (const kept of [past.batteries, past.hour]) onAbort(signal, kept.open());
  engine.historyServerCapabilities.accessHistoryDataCapability = true;
  const points = createPoints();

  function readNode(
    context: ISessionContext,
    request: HistoryReadRequest,
    node: HistoryReadValueId,
  ): HistoryReadResult {
    const { nodeId, dataEncoding, indexRange, continuationPoint } = node;
    // First, because it may have to build the node.
    const variable = engine.addressSpace?.findNode(nodeId) ?? null;
    if (variable === null) return refused(StatusCodes.BadNodeIdUnknown);
    const [raw, kept] = [rawDetails(request), keptOf(nodeId, robotAt)];
    if (raw === null || kept === null) return refused(StatusCodes.BadHistoryOperationUnsupported);
    if (!context.checkPermission(variable, PermissionType.ReadHistory))
      return refused(StatusCodes.BadUserAccessDenied);
    const from = points.read(nodeId, continuationPoint);
    if (from === undefined) return refused(StatusCodes.BadContinuationPointInvalid);
    if (request.releaseContinuationPoints) return new HistoryReadResult({ statusCode: StatusCodes.Good });
    if (request.timestampsToReturn === TimestampsToReturn.Neither)
      return refused(StatusCodes.BadInvalidTimestampArgument);
    const encoding = encodingStatus(dataEncoding);
    if (encoding !== StatusCodes.Good) return refused(encoding);
    if (!indexRange.isEmpty()) return refused(StatusCodes.BadIndexRangeNoData);
    const { dataType, trendOf } = kept.history;
    const samples = samplesOf(trendOf(past, kept.robotId));
    const share = Math.floor(MOST_VALUES / wholeLength(request, "nodesToRead"));
    const answer = readRaw(samples, { ...wanted(raw), from, share });
    if (answer === null) return refused(StatusCodes.BadInvalidArgument);
    const point = answer.next === null ? null : points.write(nodeId, answer.next);
    return resultOf(answer, point, dataType, request.timestampsToReturn);
  }

  engine.historyRead = async (context, request) => {
    // node-opcua then refuses the request with BadHistoryOperationInvalid.
    if (!(request.historyReadDetails instanceof HistoryReadDetails)) throw new Error("no details");
    return (request.nodesToRead ?? []).map((node) => readNode(context, request, node));
  };
}

/** Null: another kind of history is asked for, such as that of modified values. */
function rawDetails({ historyReadDetails }: HistoryReadRequest): ReadRawModifiedDetails | null {
  const isRaw = historyReadDetails instanceof ReadRawModifiedDetails && !historyReadDetails.isReadModified;
  return isRaw ? historyReadDetails : null;
}

/** Null: the node has no history. */
function keptOf(
  { namespace, value }: NodeId,
  robotAt: RobotAt,
): { readonly history: History; readonly robotId: RobotId } | null {
  if (namespace !== FLEET_NAMESPACE_INDEX || typeof value !== "string") return null;
  const [path = "", history] = histories.find(([end]) => value.endsWith(end)) ?? [];
  const robotId = robotAt(value.slice(0, -path.length));
  return history === undefined || robotId === undefined ? null : { history, robotId };
}

function wanted({ startTime, endTime, numValuesPerNode, returnBounds }: ReadRawModifiedDetails) {
  return {
    startMs: timeOf(startTime),
    endMs: timeOf(endTime),
    most: numValuesPerNode,
    hasBounds: returnBounds,
  };
}

function timeOf(time: Date | null): number | null {
  return time === null || time.getTime() <= NO_TIME_MS ? null : time.getTime();
}

/** Where the rest of an answer begins. */
interface Continuation {
  readonly atMs: number;
  /** How many values the client still wants of a range without an end; 0: all. */
  readonly left: number;
}

const POSITION_BYTES = 12;

/** Continuation points of one run of the server: nobody else can make one, nor for another node. */
function createPoints() {
  const key = randomBytes(32);
  const sealed = (nodeId: NodeId, position: Buffer) =>
    Buffer.concat([position, createHmac("sha256", key).update(nodeId.toString()).update(position).digest()]);

  return {
    write(nodeId: NodeId, { atMs, left }: Continuation): Buffer {
      const position = Buffer.alloc(POSITION_BYTES);
      position.writeUInt32BE(left, position.writeDoubleBE(atMs));
      return sealed(nodeId, position);
    },
    /** Null: at the beginning; undefined: it is no continuation point of this node. */
    read(nodeId: NodeId, point: Buffer | null): Continuation | null | undefined {
      if (!point?.length) return null;
      const position = point.subarray(0, POSITION_BYTES);
      const right = sealed(nodeId, position);
      if (point.length !== right.length || !timingSafeEqual(point, right)) return undefined;
      return { atMs: position.readDoubleBE(), left: position.readUInt32BE(8) };
    },
  };
}

/**
 * An encoding is for structures alone (OPC UA part 4, HistoryRead), and no value here is one. Some clients
 * name the usual one all the same.
 */
function encodingStatus({ name, namespaceIndex }: QualifiedName): StatusCode {
  if (!name || (namespaceIndex === 0 && name === "Default Binary")) return StatusCodes.Good;
  const isKnown = namespaceIndex === 0 && (name === "Default XML" || name === "Default JSON");
  return isKnown ? StatusCodes.BadDataEncodingUnsupported : StatusCodes.BadDataEncodingInvalid;
}

function resultOf(
  { values }: RawAnswer,
  continuationPoint: Buffer | null,
  dataType: DataType,
  timestamps: TimestampsToReturn,
): HistoryReadResult {
  return new HistoryReadResult({
    statusCode: values.length === 0 ? StatusCodes.GoodNoData : StatusCodes.Good,
    ...(continuationPoint === null ? {} : { continuationPoint }),
    historyData: new HistoryData({
      dataValues: values.map((value) => dataValueOf(value, dataType, timestamps)),
    }),
  });
}

function dataValueOf(raw: RawValue, dataType: DataType, timestamps: TimestampsToReturn): DataValue {
  const at = new Date(raw.atMs);
  return new DataValue({
    ...("isMissingBound" in raw ? { statusCode: StatusCodes.BadBoundNotFound } : contentOf(raw, dataType)),
    ...(timestamps === TimestampsToReturn.Server ? {} : { sourceTimestamp: at }),
    ...(timestamps === TimestampsToReturn.Source ? {} : { serverTimestamp: at }),
  });
}

function contentOf({ value }: Sample, dataType: DataType) {
  return value === null
    ? { statusCode: StatusCodes.BadDataLost }
    : { statusCode: StatusCodes.Good, value: { dataType, value } };
}

function refused(statusCode: StatusCode): HistoryReadResult {
  return new HistoryReadResult({ statusCode });
}

/** A value of the past. Null: from then on none was known to be true. */
export interface Sample {
  readonly atMs: number;
  readonly value: number | null;
}

/** A place in the answer: a sample, or a bound for which there is none. */
type RawValue = Sample | { readonly atMs: number; readonly isMissingBound: true };

/** Raw values of one node, as a client asks for them (OPC UA part 11, 6.5.3.2). */
export interface RawRequest {
  /** Null: open. If it is later than the end, or open, the latest value comes first. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** 0: all. */
  readonly most: number;
  /** Whether the values beside the range are wanted too. */
  readonly hasBounds: boolean;
  /** Where an earlier answer to the same request ended; null: this is the first. */
  readonly from: Continuation | null;
  /** At most so many in this answer. */
  readonly share: number;
}

interface RawAnswer {
  readonly values: readonly RawValue[];
  /** Where the rest of the range begins; null: that is all. */
  readonly next: Continuation | null;
}

/**
 * The values of a trend, the oldest first. A time without values is one sample. The present step is not
 * over, so its value may change, and is no past one.
 */
export function samplesOf({ firstAtMs, stepMs, values }: Trend<number>): readonly Sample[] {
  const samples: Sample[] = [];
  let last: number | null = null;
  for (const [index, value] of values.slice(0, -1).entries()) {
    if (value !== null || last !== null) samples.push({ atMs: firstAtMs + index * stepMs, value });
    last = value;
  }
  return samples;
}

/** Null: the request has less than two of start, end and number. */
export function readRaw(samples: readonly Sample[], request: RawRequest): RawAnswer | null {
  const { startMs, endMs, most, from, share } = request;
  const isRange = startMs !== null && endMs !== null;
  if (!isRange && (most === 0 || startMs === endMs)) return null;
  const isReversed = startMs === null || (endMs !== null && startMs > endMs);
  const all = isReversed ? latestFirst(samples, request) : oldestFirst(samples, request);
  const isDue = ({ atMs }: RawValue) => from === null || (isReversed ? atMs <= from.atMs : atMs >= from.atMs);
  const due = all.filter(isDue);
  const asked = (isRange ? most : from?.left || most) || Number.POSITIVE_INFINITY;
  const values = due.slice(0, Math.min(asked, share));
  const next = due[values.length];
  // Without an end the client wants so many, and no more.
  const left = isRange ? 0 : asked - values.length;
  const isAll = next === undefined || (!isRange && left === 0);
  return { values, next: isAll ? null : { atMs: next.atMs, left } };
}

type Range = Pick<RawRequest, "startMs" | "endMs" | "hasBounds">;

/** The end is not in the range, unless it is the start. */
function oldestFirst(samples: readonly Sample[], { startMs, endMs, hasBounds }: Range): RawValue[] {
  const [start, end] = [startMs ?? Number.NEGATIVE_INFINITY, endMs ?? Number.POSITIVE_INFINITY];
  const found: RawValue[] = samples.filter(
    ({ atMs }) => atMs >= start && (atMs < end || (start === end && atMs === end)),
  );
  if (!hasBounds) return found;
  if (startMs !== null && found[0]?.atMs !== startMs)
    found.unshift(samples.findLast(({ atMs }) => atMs <= startMs) ?? missing(startMs));
  if (endMs !== null && found.at(-1)?.atMs !== endMs)
    found.push(samples.find(({ atMs }) => atMs >= endMs) ?? missing(endMs));
  return found;
}

function latestFirst(samples: readonly Sample[], { startMs, endMs, hasBounds }: Range): RawValue[] {
  // Without a start the client counts back from the end.
  const [from, until] = startMs === null ? [endMs, null] : [startMs, endMs];
  const mirrored = samples.map(({ atMs, value }) => ({ atMs: -atMs, value })).reverse();
  const mirror = (ms: number | null) => (ms === null ? null : -ms);
  const range = { startMs: mirror(from), endMs: mirror(until), hasBounds };
  return oldestFirst(mirrored, range).map((value) => ({ ...value, atMs: -value.atMs }));
}

function missing(atMs: number): RawValue {
  return { atMs, isMissingBound: true };
}
