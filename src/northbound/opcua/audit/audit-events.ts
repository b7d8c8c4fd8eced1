import {
  type AddressSpace,
  type ApplicationDescription,
  DataType,
  type ISessionContext,
  LocalizedText,
  NodeId,
  type StatusCode,
  type UAEventType,
  type UAVariable,
  VariableIds,
  Variant,
  VariantArrayType,
} from "node-opcua";
import { clip } from "../../../domain/foreign-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import { severities } from "../events/event-texts.ts";
import { ComputedEvent, type EventValues, eventValues, variant } from "../node-opcua/computed-event.ts";
import { limitAuditEvents } from "../node-opcua/event-delivery.ts";
import { sendEvent } from "../node-opcua/raise-event.ts";
import { userOf } from "../node-opcua/session-bounds.ts";
import type { OpcUaOptions } from "../options.ts";
import { accountOf } from "../security.ts";

/** What a client did, or wanted to do. */
export interface AuditedAction {
  readonly type: AuditTypeName;
  readonly source: NodeId;
  /** The service, as the type of the event wants it: `Attribute/Write`. */
  readonly service: string;
  readonly status: StatusCode;
  readonly user: string;
  readonly applicationUri: string;
}

/** The types of OPC UA that the gateway raises. */
export type AuditTypeName =
  | "AuditSessionEventType"
  | "AuditCreateSessionEventType"
  | "AuditActivateSessionEventType"
  | "AuditWriteUpdateEventType"
  | "AuditUpdateMethodEventType"
  | "AuditConditionAcknowledgeEventType"
  | "AuditConditionCommentEventType";

/** Characters of the name that a client gives itself. */
const LONGEST_URI = 200;

/** Raises audit events (OPC UA part 3, 9; part 5, 6.4.3), at the object `Server`, for engineers alone. */
export interface AuditEvents {
  /** Whether any client subscribes to events of the server: without one, nothing need be raised. */
  isSubscribed(): boolean;
  /** @param details the further fields of the type */
  raise(action: AuditedAction, details: AuditDetails): void;
}

/** For an initialised server. `Server.Auditing` is TRUE from now on. */
export function openAuditEvents(
  addressSpace: AddressSpace,
  options: OpcUaOptions,
  sessionId: string,
  clock: Pick<Clock, "nowMs">,
): AuditEvents {
  const { server } = addressSpace.rootFolder.objects;
  const types = new Map<AuditTypeName, UAEventType>();
  let count = 0;
  limitAuditEvents(addressSpace, (context) => accountOf(context, options)?.role === "engineer");
  showAuditing(addressSpace);

  function typeOf(name: AuditTypeName): UAEventType {
    const type = types.get(name) ?? addressSpace.findEventType(name);
    if (type === null) throw new Error(`the address space has no ${name}`);
    types.set(name, type);
    return type;
  }

  return {
    isSubscribed: () => server.listenerCount("event") > 0,
    raise({ type: name, ...action }, details) {
      const type = typeOf(name);
      count += 1;
      const eventId = `${sessionId}/audit/${count}`;
      const facts = { ...action, eventId, atMs: clock.nowMs(), serverId: options.applicationUri };
      sendEvent(server, new ComputedEvent(type, null, auditValues(type, facts, details)));
    },
  };
}

/** node-opcua would raise events of its own, which name no user. */
function showAuditing(addressSpace: AddressSpace): void {
  const variable = addressSpace.findNode(`ns=0;i=${VariableIds.Server_Auditing}`) as UAVariable;
  variable.bindVariable({}, true);
  variable.setValueFromSource({ dataType: "Boolean", value: true });
}

/** The part of node-opcua's session that names the client program. */
interface Described {
  readonly clientDescription?: ApplicationDescription;
}

/** The user and the program of a session; no user has logged on at its begin. */
export function clientOf({ session }: ISessionContext): Pick<AuditedAction, "user" | "applicationUri"> {
  const { clientDescription } = (session ?? {}) as Described;
  const token = session?.userIdentityToken;
  return {
    user: token === undefined ? "" : userOf(token),
    applicationUri: clip(clientDescription?.applicationUri ?? "", LONGEST_URI),
  };
}

/** What all audit events say (OPC UA part 5, 6.4.3). */
interface AuditFacts {
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

/** The values of an audit event of this type. */
function auditValues(type: UAEventType, facts: AuditFacts, details: AuditDetails): EventValues {
  const { eventId, atMs, service, status, user, applicationUri, serverId } = facts;
  const isDone = status.isGood();
  const source = shownId(facts.source);
  const message = `${user === "" ? "somebody" : user}: ${service} of ${source.value}: ${status.name}`;
  const severity = isDone ? severities.information : severities.warning;
  const base = { id: Buffer.from(eventId), atMs, source, sourceName: service, message, severity };
  return eventValues(type, base, {
    ActionTimeStamp: variant(DataType.DateTime, new Date(atMs)),
    Status: variant(DataType.Boolean, isDone),
    ServerId: text(serverId),
    ClientUserId: text(user),
    ClientApplicationUri: text(applicationUri),
    ...details,
  });
}

/** Characters or bytes of an id, and characters of a text, that a client chose. */
const LONGEST_ID = 256;
const LONGEST_TEXT = 1_000;
const LONGEST_LOCALE = 35;

/** The id of a node that a client named: it need not exist, and may have megabytes. */
export function shownId({ identifierType, value, namespace }: NodeId): NodeId {
  if (typeof value === "string") return new NodeId(identifierType, clip(value, LONGEST_ID), namespace);
  if (Buffer.isBuffer(value))
    return new NodeId(identifierType, Buffer.from(value.subarray(0, LONGEST_ID)), namespace);
  return new NodeId(identifierType, value, namespace);
}

/** A value that a client sent, without the rest of a long text. */
export function shownValue(value: Variant): Variant {
  if (value.arrayType !== VariantArrayType.Scalar) return value;
  if (value.dataType === DataType.String) return text(clip(value.value ?? "", LONGEST_TEXT));
  if (value.dataType !== DataType.LocalizedText) return value;
  const { locale, text: shown } = (value.value ?? {}) as LocalizedText;
  return variant(
    DataType.LocalizedText,
    new LocalizedText({ locale: clip(locale ?? "", LONGEST_LOCALE), text: clip(shown ?? "", LONGEST_TEXT) }),
  );
}

/** The status of an action, in the types that have it. */
export function statusField(status: StatusCode): AuditDetails {
  return { StatusCodeId: variant(DataType.StatusCode, status) };
}

export function text(value: string): Variant {
  return variant(DataType.String, value);
}

/** A list of values of any type. */
export function listOf(values: readonly Variant[]): Variant {
  return new Variant({ dataType: DataType.Variant, arrayType: VariantArrayType.Array, value: [...values] });
}
