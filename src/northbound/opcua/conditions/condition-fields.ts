import { DataType, LocalizedText, NodeId, NodeIdType, StatusCodes, Variant } from "node-opcua";
import { alarmRule } from "../../../domain/alarm.ts";
import { holderName } from "../../../domain/hold.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { conditionKind } from "../model/conditions.ts";
import type { EventValues } from "../node-opcua/computed-event.ts";
import { standardId } from "../node-opcua/lower.ts";
import type { ConditionPlace } from "./condition-places.ts";
import type { ConditionState } from "./condition-state.ts";

/** What a condition is about (OPC UA part 9, 5.9). */
const classes = {
  process: { id: standardId(11_164), name: "ProcessConditionClassType" },
  maintenance: { id: standardId(11_165), name: "MaintenanceConditionClassType" },
  system: { id: standardId(11_166), name: "SystemConditionClassType" },
} as const;
const forMaintenance: ReadonlySet<string> = new Set(["BATTERY", "ROBOT_CLOCK", "CERTIFICATE_EXPIRES"]);
/** States of ExclusiveLimitStateMachineType. */
const low = { id: standardId(9_333), text: text("Low") };
const lowLow = { id: standardId(9_335), text: text("LowLow") };
/** The tag that a condition follows, below the object of its source. */
const inputs: ReadonlyMap<string, string> = new Map([
  ["BATTERY", "Battery.ChargePercent"],
  ["ROBOT_LOST", "Quality"],
  ["FLEET_LINK_DOWN", "FleetLinkUp"],
]);

/**
 * The fields of an event of this condition (OPC UA part 9, 5.5 to 5.8).
 *
 * @param type the NodeId of its type
 */
export function conditionFields(
  state: ConditionState,
  { source, sourceName, isOutOfService }: ConditionPlace,
  type: NodeId,
): EventValues {
  const { name, alarm, isRetained, isActive, isAcknowledged, comment, lastSeverity } = state;
  const { acknowledged, sinceMs, returnedAtMs, severity } = alarm;
  const changedAt = dateTime(state.changedAtMs);
  const { cause, advice } = alarmRule(alarm.code);
  const conditionClass = classOf(state);
  return new Map([
    ["EventId", variant(DataType.ByteString, Buffer.from(state.eventId))],
    ["EventType", nodeId(type)],
    ["SourceNode", nodeId(source.nodeId)],
    ["SourceName", variant(DataType.String, sourceName)],
    ["Time", changedAt],
    ["ReceiveTime", changedAt],
    ["Message", variant(DataType.LocalizedText, text(alarm.text))],
    ["Severity", variant(DataType.UInt16, severity)],
    ["ConditionClassId", nodeId(conditionClass.id)],
    ["ConditionClassName", variant(DataType.LocalizedText, text(conditionClass.name))],
    ["ConditionName", variant(DataType.String, name)],
    ["BranchId", nodeId(NodeId.nullNodeId)],
    ["Retain", boolean(isRetained)],
    ["ClientUserId", variant(DataType.String, lastUser(state))],
    ...twoState("EnabledState", true, "Enabled", "Disabled"),
    ["Quality", variant(DataType.StatusCode, StatusCodes.Good)],
    ["Quality.SourceTimestamp", changedAt],
    ["LastSeverity", variant(DataType.UInt16, lastSeverity)],
    ["LastSeverity.SourceTimestamp", changedAt],
    [
      "Comment",
      variant(DataType.LocalizedText, comment === null ? new LocalizedText({}) : text(comment.text)),
    ],
    ["Comment.SourceTimestamp", dateTime(comment?.atMs ?? null)],
    ...twoState("AckedState", isAcknowledged, "Acknowledged", "Unacknowledged"),
    ["AckedState.TransitionTime", dateTime(acknowledged?.atMs ?? null)],
    ...twoState("ActiveState", isActive, "Active", "Inactive"),
    ["ActiveState.TransitionTime", dateTime(isActive ? sinceMs : (returnedAtMs ?? state.changedAtMs))],
    ["InputNode", nodeId(inputOf(name, source.nodeId))],
    ["SuppressedOrShelved", boolean(isOutOfService)],
    ...twoState("OutOfServiceState", isOutOfService, "Out of Service", "In Service"),
    ...ofKind(state),
    [`${FLEET_NAMESPACE_INDEX}:Cause`, variant(DataType.String, cause)],
    [`${FLEET_NAMESPACE_INDEX}:Advice`, variant(DataType.String, advice)],
  ]);
}

/** The fields that its type alone has. */
function ofKind({ name, alarm, isActive }: ConditionState): readonly (readonly [string, Variant])[] {
  switch (conditionKind(name)) {
    case "battery": {
      if (!isActive) return [];
      const level = alarm.code === "BATTERY_CRITICAL" ? lowLow : low;
      return [
        ["LimitState.CurrentState", variant(DataType.LocalizedText, level.text)],
        ["LimitState.CurrentState.Id", nodeId(level.id)],
      ];
    }
    case "alarm":
      return [["NormalState", nodeId(NodeId.nullNodeId)]];
    case "certificate":
      return [
        ["NormalState", nodeId(NodeId.nullNodeId)],
        // One alarm may be about several certificates: its text names them.
        ["CertificateType", nodeId(NodeId.nullNodeId)],
      ];
  }
}

function classOf({ name, source }: ConditionState) {
  if (forMaintenance.has(name)) return classes.maintenance;
  return source.kind === "gateway" ? classes.system : classes.process;
}

function inputOf(name: string, source: NodeId): NodeId {
  const input = inputs.get(name);
  return input === undefined
    ? NodeId.nullNodeId
    : new NodeId(NodeIdType.STRING, `${source.value}.${input}`, source.namespace);
}

/** The user of the newest comment or acknowledgement. */
function lastUser({ alarm: { acknowledged }, comment }: ConditionState): string | null {
  const [newest] = [acknowledged, comment].filter((each) => each !== null).sort((a, b) => b.atMs - a.atMs);
  return newest === undefined ? null : holderName(newest.by);
}

function twoState(
  name: string,
  is: boolean,
  yes: string,
  no: string,
): readonly (readonly [string, Variant])[] {
  return [
    [name, variant(DataType.LocalizedText, text(is ? yes : no))],
    [`${name}.Id`, boolean(is)],
  ];
}

function text(english: string): LocalizedText {
  return new LocalizedText({ locale: "en", text: english });
}

function variant(dataType: DataType, value: unknown): Variant {
  return new Variant({ dataType, value });
}

function boolean(value: boolean): Variant {
  return variant(DataType.Boolean, value);
}

function nodeId(value: NodeId): Variant {
  return variant(DataType.NodeId, value);
}

/** Null: there is no such time. */
function dateTime(ms: number | null): Variant {
  return ms === null ? new Variant({}) : variant(DataType.DateTime, new Date(ms));
}
