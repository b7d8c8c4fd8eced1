import {
  AttributeIds,
  type ClientMonitoredItem,
  type ClientSubscription,
  constructEventFilter,
  DataType,
  type EventFilter,
  MethodIds,
  ofType,
  resolveNodeId,
  SimpleAttributeOperand,
  type StatusCode,
  TimestampsToReturn,
  type Variant,
  type VariantOptions,
} from "node-opcua";
import type { RefusalAudit } from "../../../../src/contracts/commander.ts";
import type { OperationManual } from "../../../../src/contracts/operation-manual.ts";
import type { AlarmSource } from "../../../../src/domain/alarm.ts";
import type { OpcUaUser } from "../../../../src/northbound/opcua/options.ts";
import { type Clock, systemClock } from "../../../../src/platform/clock.ts";
import {
  type AlarmRegistry,
  createAlarmRegistry,
  type KeptAlarms,
} from "../../../../src/state/alarm-registry.ts";
import { createTestActs } from "../../../support/fake-acts.ts";
import { robotChange } from "../changes.ts";
import { fakeCatalogue } from "../fake-commands.ts";
import { createFakeDisk, type FakeDisk } from "../memory-store.ts";
import {
  accountsOf,
  type Caller,
  opcUaOptions,
  openSession,
  type RunningServer,
  startServer,
} from "../opcua-harness.ts";

/** What a client shows of an event, by the names of its fields. */
export type Shown = Readonly<Record<string, unknown>>;

const fields = [
  ...["EventId", "EventType", "SourceNode", "SourceName", "Time", "Message", "Severity", "ConditionName"],
  ...[
    "BranchId",
    "Retain",
    "EnabledState.Id",
    "AckedState",
    "AckedState.Id",
    "ActiveState",
    "ActiveState.EffectiveDisplayName",
    "ActiveState.Id",
  ],
  ...["Comment", "ClientUserId", "LastSeverity", "Quality", "InputNode", "ConditionClassName"],
  ...["OutOfServiceState.Id", "SuppressedOrShelved", "LimitState.CurrentState", "ConfirmedState.Id"],
  ...["LowLimit", "LowLowLimit", "ExpirationDate", "2:Cause", "2:Advice"],
];

/** The select clause of the ConditionId. */
const conditionId = new SimpleAttributeOperand({
  typeDefinitionId: resolveNodeId("ConditionType"),
  attributeId: AttributeIds.NodeId,
});

/** A gateway's alarms, and its OPC UA server. */
export interface ConditionsHarness extends AsyncDisposable {
  readonly running: RunningServer;
  readonly registry: AlarmRegistry;
  /** Those of the configuration, in percent. */
  readonly limits: { low: number; critical: number };
  readonly refused: readonly Parameters<RefusalAudit["refused"]>[];
  /** Hands over what has become of the alarms. */
  publish(): void;
  set(source: AlarmSource, code: Parameters<AlarmRegistry["state"]>[1], holds: boolean, text?: string): void;
  client(name: string): Promise<Caller>;
}

export const CERTIFICATE_END_MS = Date.UTC(2027, 0, 1);
export const robot = (robotId: string): AlarmSource => ({ kind: "robot", robotId });
export const nothingKept: KeptAlarms = { alarms: [], outOfService: [], lastId: 0 };
const user = (name: string, role: OpcUaUser["role"]): OpcUaUser => ({
  ...{ name, role, number: null },
  secret: { kind: "plain", text: "pw" },
});

/** What differs from a first start. */
interface Surroundings {
  readonly robotIds?: readonly string[];
  /** What survives a restart, besides the alarms. */
  readonly disk?: FakeDisk;
  readonly storeProblem?: () => Promise<string | null>;
  readonly catalogue?: OperationManual;
  readonly clock?: Clock;
}

/** @param kept the alarms of an earlier run */
export async function startConditions(
  kept: KeptAlarms = nothingKept,
  {
    robotIds = ["r1"],
    disk = createFakeDisk(),
    storeProblem = async () => null,
    catalogue = fakeCatalogue(),
    clock = systemClock,
  }: Surroundings = {},
): Promise<ConditionsHarness> {
  let events = 0;
  const registry = createAlarmRegistry(systemClock, kept, () => {
    events += 1;
    return `e${events}`;
  });
  const refused: Parameters<RefusalAudit["refused"]>[] = [];
  const options = {
    users: [user("eva", "engineer"), user("ann", "operator"), user("tv", "observer")],
    robots: robotIds.map(
      (robotId) => ({ robotId, alias: null, number: null, family: "cart", conveyorIndexes: [] }) as const,
    ),
    stations: [{ name: "dock", needsPermit: false, load: null }],
  };
  const acts = createTestActs({
    alarms: registry,
    userRights: { rules: [], accounts: accountsOf(opcUaOptions(options)) },
    refused: (...refusal) => void refused.push(refusal),
  });
  const shown = (source: AlarmSource) => ({
    alarms: source.kind === "gateway" ? registry.all() : registry.of(source),
    isOutOfService: source.kind === "robot" && registry.isOutOfService(source.robotId),
  });
  const alarms = { storeProblem, shown };
  const limits = { low: 20, critical: 10 };
  const running = await startServer(options, {
    ...{ alarms, acts, catalogue, clock },
    alarmFacts: { batteryLimits: () => limits, certificateEndMs: () => CERTIFICATE_END_MS },
    openMemory: disk.open,
  });
  running.server.write({ changes: robotIds.map((id) => robotChange(id, "good")), events: [] });
  const callers: Caller[] = [];

  function publish(): void {
    const { events: taken } = registry.take();
    running.server.write({ changes: [{ kind: "alarms", alarms: registry.all() }], events: taken });
  }

  return {
    ...{ running, registry, limits, refused, publish },
    set(source, code, holds, text = "found") {
      registry.state(source, code, { holds, text });
      publish();
    },
    async client(name) {
      const caller = await openSession(running.url, { user: { name, password: "pw" } });
      callers.push(caller);
      return caller;
    },
    async [Symbol.asyncDispose]() {
      for (const caller of callers) await caller.close();
      await running.stop();
    },
  };
}

/** A client's subscription to events. */
export interface Listener {
  readonly subscription: ClientSubscription;
  readonly item: ClientMonitoredItem;
  readonly events: Shown[];
  /** Waits until an event matches. */
  until(matches: (event: Shown) => boolean): Promise<Shown>;
  /** Refreshes, and returns what came between start and end. */
  refresh(): Promise<readonly Shown[]>;
}

export async function listen(
  { session }: Caller,
  {
    nodeId = "i=2253",
    queueSize = 1_000,
    discardOldest = true,
    whereClause,
    shared,
  }: {
    nodeId?: string;
    queueSize?: number;
    discardOldest?: boolean;
    whereClause?: EventFilter["whereClause"];
    /** Another listener, whose subscription gets one more item. */
    shared?: Listener;
  } = {},
): Promise<Listener> {
  const subscription =
    shared?.subscription ??
    (await session.createSubscription2({
      ...{ requestedPublishingInterval: 20, requestedLifetimeCount: 1_000, requestedMaxKeepAliveCount: 10 },
      publishingEnabled: true,
    }));
  // As alarm lists do. Robots that are new come as changes of the model, at any time.
  const filter = constructEventFilter(fields, ofType(resolveNodeId("ConditionType")));
  filter.selectClauses?.push(conditionId);
  if (whereClause !== undefined) filter.whereClause = whereClause;
  const item = await subscription.monitor(
    { nodeId, attributeId: AttributeIds.EventNotifier },
    { samplingInterval: 0, queueSize, filter, discardOldest },
    TimestampsToReturn.Both,
  );
  const events: Shown[] = [];
  const type = (name: string) => resolveNodeId(name).toString();
  item.on("changed", (values: unknown) => void events.push(shownOf(values as Variant[])));

  async function until(matches: (event: Shown) => boolean, from = 0): Promise<Shown> {
    for (;;) {
      const found = events.slice(from).find(matches);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  return {
    ...{ subscription, item, events, until },
    async refresh() {
      const from = events.length;
      const status = await callRefresh({ session } as Caller, subscription.subscriptionId);
      if (status.isNotGood()) throw new Error(status.name);
      await until(({ EventType }) => EventType === type("RefreshEndEventType"), from);
      const news = events.slice(from);
      const begin = news.findIndex(({ EventType }) => EventType === type("RefreshStartEventType"));
      const end = news.findIndex(({ EventType }) => EventType === type("RefreshEndEventType"));
      return news.slice(begin + 1, end);
    },
  };
}

function shownOf(values: readonly Variant[]): Shown {
  const names = [...fields, "ConditionId"];
  return Object.fromEntries(names.map((name, index) => [name, plain(values[index])]));
}

function plain(variant: Variant | undefined): unknown {
  const { dataType, value } = variant ?? {};
  if (dataType === DataType.ByteString) return value === null ? null : value.toString();
  if (dataType === DataType.NodeId) return value.isEmpty() ? null : value.toString();
  if (dataType === DataType.LocalizedText) return value.text ?? null;
  if (dataType === DataType.StatusCode) return value.name;
  return value ?? null;
}

export const eventIdOf = (event: Shown): VariantOptions => ({
  dataType: DataType.ByteString,
  value: Buffer.from(String(event.EventId)),
});
export const commentOf = (text: string | null): VariantOptions => ({
  dataType: DataType.LocalizedText,
  value: text === null ? {} : { locale: "en", text },
});

/** Calls a method of a condition. */
export async function call(
  { session }: Pick<Caller, "session">,
  objectId: unknown,
  method: keyof typeof MethodIds,
  ...inputArguments: readonly VariantOptions[]
): Promise<string> {
  const methodId = resolveNodeId(MethodIds[method]);
  const result = await session.call({
    objectId: String(objectId),
    methodId,
    inputArguments: [...inputArguments],
  });
  return result.statusCode.name;
}

export async function callRefresh(
  { session }: Pick<Caller, "session">,
  subscriptionId: number,
): Promise<StatusCode> {
  const result = await session.call({
    objectId: resolveNodeId("ConditionType"),
    methodId: resolveNodeId(MethodIds.ConditionType_ConditionRefresh),
    inputArguments: [{ dataType: DataType.UInt32, value: subscriptionId }],
  });
  return result.statusCode;
}
