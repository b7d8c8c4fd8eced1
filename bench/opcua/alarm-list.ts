import {
  AttributeIds,
  constructEventFilter,
  DataType,
  MethodIds,
  ofType,
  resolveNodeId,
  TimestampsToReturn,
  type Variant,
} from "node-opcua";
import { openPlantSession } from "./session.ts";

/** An alarm list of a SCADA system: it subscribes to conditions at the Server. */
export interface AlarmList {
  /** Asks for all conditions; how many came, and how long until the last one, in milliseconds. */
  refresh(): Promise<{ readonly conditions: number; readonly ms: number }>;
  /** Events so far. */
  events(): number;
  /** Whether the alarm of a robot is shown as active. */
  isActive(robot: string): boolean;
}

const SERVER = "i=2253";
const QUEUE = 10_000;
const FIELDS = ["EventType", "SourceName", "ActiveState.Id"];

export async function openAlarmList(port: number): Promise<AlarmList> {
  const { session } = await openPlantSession(port);
  const subscription = await session.createSubscription2({
    ...{ requestedPublishingInterval: 50, requestedLifetimeCount: 1_000, requestedMaxKeepAliveCount: 10 },
    publishingEnabled: true,
  });
  const item = await subscription.monitor(
    { nodeId: SERVER, attributeId: AttributeIds.EventNotifier },
    {
      samplingInterval: 0,
      queueSize: QUEUE,
      discardOldest: true,
      filter: constructEventFilter(FIELDS, ofType(resolveNodeId("ConditionType"))),
    },
    TimestampsToReturn.Both,
  );
  const active = new Map<string, boolean>();
  let events = 0;
  let refreshed = 0;
  let onEnd = () => {};
  const start = resolveNodeId("RefreshStartEventType").toString();
  const end = resolveNodeId("RefreshEndEventType").toString();
  item.on("changed", (values: unknown) => {
    const [type, source, isActive] = values as Variant[];
    events += 1;
    const eventType = String(type?.value);
    if (eventType === start) refreshed = 0;
    else if (eventType === end) onEnd();
    else refreshed += 1;
    if (typeof isActive?.value === "boolean") active.set(String(source?.value), isActive.value);
  });

  return {
    async refresh() {
      const ended = new Promise<void>((resolve) => {
        onEnd = resolve;
      });
      const startedMs = performance.now();
      const { statusCode } = await session.call({
        objectId: resolveNodeId("ConditionType"),
        methodId: resolveNodeId(MethodIds.ConditionType_ConditionRefresh),
        inputArguments: [{ dataType: DataType.UInt32, value: subscription.subscriptionId }],
      });
      if (statusCode.isNotGood()) throw new Error(`ConditionRefresh: ${statusCode.name}`);
      await ended;
      return { conditions: refreshed, ms: performance.now() - startedMs };
    },
    events: () => events,
    isActive: (robot) => active.get(robot) === true,
  };
}
