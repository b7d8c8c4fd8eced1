import {
  DataType,
  LocalizedText,
  type NodeId,
  type StatusCode,
  type UAEventType,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { severities } from "../events/event-texts.ts";
import type { EventValues } from "../node-opcua/computed-event.ts";

/** What all audit events say (OPC UA part 5, 6.4.3). */
export interface AuditFacts {
  readonly eventId: string;
  readonly atMs: number;
  /** The node that a client has changed, or wanted to. */
  readonly source: NodeId;
  /** The service, as the type of the event wants it: `Attribute/Write`. */
  readonly service: string;
  readonly status: StatusCode;
  readonly user: string;
  readonly applicationUri: string;
  /** The application URI of the server. */
  readonly serverId: string;
}

/** The further fields of a type, by their names. */
export type AuditDetails = Readonly<Record<string, Variant>>;

/** The fields of an audit event of this type. */
export function auditFields(type: UAEventType, facts: AuditFacts, details: AuditDetails): EventValues {
  const { eventId, atMs, source, service, status, user, applicationUri, serverId } = facts;
  const isDone = status.isGood();
  const message = `${user === "" ? "somebody" : user}: ${service} of ${source.value}: ${status.name}`;
  const time = variant(DataType.DateTime, new Date(atMs));
  const values = new Map<string, Variant>(
    Object.entries({
      EventId: variant(DataType.ByteString, Buffer.from(eventId)),
      EventType: variant(DataType.NodeId, type.nodeId),
      SourceNode: variant(DataType.NodeId, source),
      SourceName: text(service),
      Time: time,
      ReceiveTime: time,
      Message: variant(DataType.LocalizedText, new LocalizedText({ locale: "en", text: message })),
      Severity: variant(DataType.UInt16, isDone ? severities.information : severities.warning),
      ActionTimeStamp: time,
      Status: variant(DataType.Boolean, isDone),
      ServerId: text(serverId),
      ClientUserId: text(user),
      ClientApplicationUri: text(applicationUri),
      ...details,
    }),
  );
  return { paths: () => values.keys(), get: (path) => values.get(path) };
}

/** The status of an action, in the types that have it. */
export function statusField(status: StatusCode): AuditDetails {
  return { StatusCodeId: variant(DataType.StatusCode, status) };
}

export function variant(dataType: DataType, value: unknown): Variant {
  return new Variant({ dataType, value });
}

export function text(value: string): Variant {
  return variant(DataType.String, value);
}

/** A list of values of any type. */
export function listOf(values: readonly Variant[]): Variant {
  return new Variant({ dataType: DataType.Variant, arrayType: VariantArrayType.Array, value: [...values] });
}
