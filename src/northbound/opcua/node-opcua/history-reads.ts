import {
  DataType,
  DataValue,
  HistoryData,
  HistoryReadRequest,
  HistoryReadResult,
  type HistoryReadValueId,
  type ISessionContext,
  type NodeId,
  type OPCUAServer,
  PermissionType,
  ReadRawModifiedDetails,
  type StatusCode,
  StatusCodes,
  TimestampsToReturn,
  type UAVariable,
} from "node-opcua";
import type { BatteryTrends } from "../../../contracts/trends.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { onAbort } from "../../../platform/on-abort.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { type RawAnswer, type RawValue, readRaw, type Sample, samplesOf } from "../raw-history.ts";

/** The robot of the nodes below a path. */
type RobotAt = (path: string) => RobotId | undefined;

/** Behind the path of a robot: the one tag of which past values are kept. */
const CHARGE = ".Battery.ChargePercent";
/** The first moment that OPC UA can name means none. */
const NO_TIME_MS = Date.UTC(1601, 0, 1);

/**
 * Answers HistoryRead of raw values for the charge of robots. A continuation point says where the rest
 * begins, so the server keeps none, and there is nothing to release. Every other read is node-opcua's, which
 * has no history. Batteries are recorded until the signal is aborted. For an initialised server that does not
 * listen yet.
 */
export function answerHistoryReads(
  { engine }: OPCUAServer,
  batteries: BatteryTrends,
  robotAt: RobotAt,
  signal: AbortSignal,
): void {
  onAbort(signal, batteries.open());
  engine.historyServerCapabilities.accessHistoryDataCapability = true;
  const readElsewhere = engine.historyRead.bind(engine);

  async function readNode(
    context: ISessionContext,
    request: HistoryReadRequest,
    node: HistoryReadValueId,
  ): Promise<HistoryReadResult> {
    const raw = rawDetails(request);
    // First, because it may have to build the node.
    const variable = engine.addressSpace?.findNode(node.nodeId) as UAVariable | null | undefined;
    const robotId = variable == null ? undefined : robotOf(node.nodeId, robotAt);
    if (raw === null || variable == null || robotId === undefined) {
      const [result] = await readElsewhere(context, withNode(request, node));
      return result ?? refused(StatusCodes.BadHistoryOperationUnsupported);
    }
    if (!context.checkPermission(variable, PermissionType.ReadHistory))
      return refused(StatusCodes.BadUserAccessDenied);
    const fromMs = continuedAt(node);
    if (fromMs === undefined) return refused(StatusCodes.BadContinuationPointInvalid);
    if (request.releaseContinuationPoints) return new HistoryReadResult({ statusCode: StatusCodes.Good });
    if (request.timestampsToReturn === TimestampsToReturn.Neither)
      return refused(StatusCodes.BadInvalidTimestampArgument);
    if (!node.indexRange.isEmpty()) return refused(StatusCodes.BadIndexRangeNoData);
    const samples = samplesOf(batteries.batteryOf(robotId));
    const answer = readRaw(samples, { ...wanted(raw), fromMs });
    if (answer === null) return refused(StatusCodes.BadInvalidArgument);
    return resultOf(answer, request.timestampsToReturn);
  }

  engine.historyRead = async (context, request) => {
    // node-opcua refuses the other kinds of details as a whole.
    if (rawDetails(request) === null) return readElsewhere(context, request);
    return Promise.all((request.nodesToRead ?? []).map((node) => readNode(context, request, node)));
  };
}

/** Null: another kind of history is asked for, such as that of modified values. */
function rawDetails({ historyReadDetails }: HistoryReadRequest): ReadRawModifiedDetails | null {
  const isRaw = historyReadDetails instanceof ReadRawModifiedDetails && !historyReadDetails.isReadModified;
  return isRaw ? historyReadDetails : null;
}

function robotOf({ namespace, value }: NodeId, robotAt: RobotAt): RobotId | undefined {
  const isCharge = namespace === FLEET_NAMESPACE_INDEX && typeof value === "string" && value.endsWith(CHARGE);
  return isCharge ? robotAt(value.slice(0, -CHARGE.length)) : undefined;
}

function withNode(request: HistoryReadRequest, node: HistoryReadValueId): HistoryReadRequest {
  return Object.assign(Object.create(HistoryReadRequest.prototype), request, { nodesToRead: [node] });
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

/** Null: at the beginning; undefined: it is no continuation point of ours. */
function continuedAt({ continuationPoint }: HistoryReadValueId): number | null | undefined {
  if (!continuationPoint?.length) return null;
  if (continuationPoint.length !== 8) return undefined;
  const atMs = continuationPoint.readDoubleBE();
  return Number.isSafeInteger(atMs) ? atMs : undefined;
}

function continuationAt(atMs: number): Buffer {
  const point = Buffer.alloc(8);
  point.writeDoubleBE(atMs);
  return point;
}

function resultOf({ values, nextMs }: RawAnswer, timestamps: TimestampsToReturn): HistoryReadResult {
  return new HistoryReadResult({
    statusCode: values.length === 0 ? StatusCodes.GoodNoData : StatusCodes.Good,
    ...(nextMs === null ? {} : { continuationPoint: continuationAt(nextMs) }),
    historyData: new HistoryData({ dataValues: values.map((value) => dataValueOf(value, timestamps)) }),
  });
}

function dataValueOf(raw: RawValue, timestamps: TimestampsToReturn): DataValue {
  const at = new Date(raw.atMs);
  return new DataValue({
    ...("isMissingBound" in raw ? { statusCode: StatusCodes.BadBoundNotFound } : contentOf(raw)),
    ...(timestamps === TimestampsToReturn.Server ? {} : { sourceTimestamp: at }),
    ...(timestamps === TimestampsToReturn.Source ? {} : { serverTimestamp: at }),
  });
}

function contentOf({ value }: Sample) {
  return value === null
    ? { statusCode: StatusCodes.BadDataLost }
    : { statusCode: StatusCodes.Good, value: { dataType: DataType.Int32, value } };
}

function refused(statusCode: StatusCode): HistoryReadResult {
  return new HistoryReadResult({ statusCode });
}
