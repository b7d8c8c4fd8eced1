import { DataType, LocalizedText, NodeId, NodeIdType, StatusCodes, Variant } from "node-opcua";
import type { AlarmFacts, BatteryLimits } from "../../../contracts/alarms.ts";
import { alarmRule } from "../../../domain/alarm.ts";
import { holderName } from "../../../domain/hold.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { conditionKind } from "../model/conditions.ts";
import { type EventValues, variant } from "../node-opcua/computed-event.ts";
import { standardId } from "../node-opcua/lower.ts";
import type { ConditionPlace } from "./condition-places.ts";
import type { ConditionState } from "./condition-state.ts";

/** What the fields of an event follow from. */
interface FieldInput {
  readonly state: ConditionState;
  readonly place: ConditionPlace;
  /** The NodeId of its type. */
  readonly type: NodeId;
  readonly facts: AlarmFacts;
}

type Field = (input: FieldInput) => Variant;

const nothing = new Variant({});
const [yes, no] = [variant(DataType.Boolean, true), variant(DataType.Boolean, false)];
const noNode = nodeId(NodeId.nullNodeId);
const noComment = variant(DataType.LocalizedText, new LocalizedText({}));
const good = variant(DataType.StatusCode, StatusCodes.Good);

/** What a condition is about (OPC UA part 9, 5.9). */
const classes = {
  process: classOf(11_164, "ProcessConditionClassType"),
  maintenance: classOf(11_165, "MaintenanceConditionClassType"),
  system: classOf(11_166, "SystemConditionClassType"),
} as const;
const forMaintenance: ReadonlySet<string> = new Set(["BATTERY", "ROBOT_CLOCK", "CERTIFICATE_EXPIRES"]);
/** States of ExclusiveLimitStateMachineType. */
const levels = {
  low: { id: nodeId(standardId(9_333)), text: text("Low") },
  lowLow: { id: nodeId(standardId(9_335)), text: text("LowLow") },
} as const;
/** The tag that a condition follows, below the object of its source. */
const inputs: ReadonlyMap<string, string> = new Map([
  ["BATTERY", "Battery.ChargePercent"],
  ["ROBOT_LOST", "Quality"],
  ["FLEET_LINK_DOWN", "FleetLinkUp"],
]);

/** The fields of conditions, by the path of their names (OPC UA part 9, 5.5 to 5.8). */
const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["EventId", ({ state }) => variant(DataType.ByteString, Buffer.from(state.eventId))],
  ["EventType", ({ type }) => nodeId(type)],
  ["SourceNode", ({ place }) => nodeId(place.source.nodeId)],
  ["SourceName", ({ place }) => string(place.sourceName)],
  ["Time", changedAt],
  ["ReceiveTime", changedAt],
  ["Message", ({ state }) => text(state.alarm.text)],
  ["Severity", ({ state }) => variant(DataType.UInt16, state.alarm.severity)],
  ["ConditionClassId", ({ state }) => classOfState(state).id],
  ["ConditionClassName", ({ state }) => classOfState(state).name],
  ["ConditionName", ({ state }) => string(state.name)],
  ["BranchId", () => noNode],
  ["Retain", ({ state }) => boolean(state.isRetained)],
  ["ClientUserId", ({ state }) => string(lastUser(state))],
  ...twoState("EnabledState", "Enabled", "Disabled", () => true),
  ["Quality", () => good],
  ["Quality.SourceTimestamp", changedAt],
  ["LastSeverity", ({ state }) => variant(DataType.UInt16, state.lastSeverity)],
  ["LastSeverity.SourceTimestamp", changedAt],
  ["Comment", ({ state: { comment } }) => (comment === null ? noComment : text(comment.text))],
  ["Comment.SourceTimestamp", ({ state }) => dateTime(state.comment?.atMs ?? null)],
  ...twoState("AckedState", "Acknowledged", "Unacknowledged", ({ state }) => state.isAcknowledged),
  ["AckedState.TransitionTime", ({ state }) => dateTime(state.alarm.acknowledged?.atMs ?? null)],
  ...twoState("ActiveState", "Active", "Inactive", ({ state }) => state.isActive),
  [
    "ActiveState.EffectiveDisplayName",
    ({ state }) => levelOf(state)?.text ?? text(state.isActive ? "Active" : "Inactive"),
  ],
  ["ActiveState.TransitionTime", ({ state }) => dateTime(activityChangedAtMs(state))],
  ["InputNode", inputNode],
  ["SuppressedOrShelved", ({ place }) => boolean(place.isOutOfService)],
  ...twoState("OutOfServiceState", "Out of Service", "In Service", ({ place }) => place.isOutOfService),
  ["LimitState.CurrentState", ({ state }) => levelOf(state)?.text ?? nothing],
  ["LimitState.CurrentState.Id", ({ state }) => levelOf(state)?.id ?? nothing],
  ["LowLimit", (input) => limitOf(input, "low")],
  ["LowLowLimit", (input) => limitOf(input, "critical")],
  ["ExpirationDate", expirationDate],
  ["NormalState", ({ state }) => (conditionKind(state.name) === "battery" ? nothing : noNode)],
  [`${FLEET_NAMESPACE_INDEX}:Cause`, ({ state }) => string(alarmRule(state.alarm.code).cause)],
  [`${FLEET_NAMESPACE_INDEX}:Advice`, ({ state }) => string(alarmRule(state.alarm.code).advice)],
]);

/**
 * The fields of an event of this condition. Each is computed when a filter selects it.
 *
 * @param type the NodeId of its type
 */
export function conditionFields(
  state: ConditionState,
  place: ConditionPlace,
  type: NodeId,
  facts: AlarmFacts,
): EventValues {
  const input = { state, place, type, facts };
  return { get: (path) => fields.get(path)?.(input) };
}

function twoState(
  name: string,
  whenTrue: string,
  whenFalse: string,
  is: (input: FieldInput) => boolean,
): readonly (readonly [string, Field])[] {
  const texts = [text(whenTrue), text(whenFalse)] as const;
  return [
    [name, (input) => texts[is(input) ? 0 : 1]],
    [`${name}.Id`, (input) => boolean(is(input))],
  ];
}

function changedAt({ state }: FieldInput): Variant {
  return dateTime(state.changedAtMs);
}

function activityChangedAtMs({ isActive, alarm, changedAtMs }: ConditionState): number {
  return isActive ? alarm.sinceMs : (alarm.returnedAtMs ?? changedAtMs);
}

/** Of an active battery condition; null: it has none. */
function levelOf({ name, alarm, isActive }: ConditionState) {
  if (conditionKind(name) !== "battery" || !isActive) return null;
  return alarm.code === "BATTERY_CRITICAL" ? levels.lowLow : levels.low;
}

/** Percent. */
function limitOf({ state, facts }: FieldInput, name: keyof BatteryLimits): Variant {
  if (conditionKind(state.name) !== "battery") return nothing;
  return variant(DataType.Double, facts.batteryLimits()[name]);
}

/** Of the certificate that ends first. */
function expirationDate({ state, facts }: FieldInput): Variant {
  return conditionKind(state.name) === "certificate" ? dateTime(facts.certificateEndMs()) : nothing;
}

function classOf(number: number, name: string) {
  return { id: nodeId(standardId(number)), name: text(name) };
}

function classOfState({ name, source }: ConditionState) {
  if (forMaintenance.has(name)) return classes.maintenance;
  return source.kind === "gateway" ? classes.system : classes.process;
}

function inputNode({ state, place: { source } }: FieldInput): Variant {
  const input = inputs.get(state.name);
  if (input === undefined) return noNode;
  const { value, namespace } = source.nodeId;
  return nodeId(new NodeId(NodeIdType.STRING, `${value}.${input}`, namespace));
}

/** The user of the newest comment or acknowledgement. */
function lastUser({ alarm: { acknowledged }, comment }: ConditionState): string | null {
  const [newest] = [acknowledged, comment].filter((each) => each !== null).sort((a, b) => b.atMs - a.atMs);
  return newest === undefined ? null : holderName(newest.by);
}

function text(english: string): Variant {
  return variant(DataType.LocalizedText, new LocalizedText({ locale: "en", text: english }));
}

function string(value: string | null): Variant {
  return variant(DataType.String, value);
}

function boolean(value: boolean): Variant {
  return value ? yes : no;
}

function nodeId(value: NodeId): Variant {
  return variant(DataType.NodeId, value);
}

/** Null: there is no such time. */
function dateTime(ms: number | null): Variant {
  return ms === null ? nothing : variant(DataType.DateTime, new Date(ms));
}
