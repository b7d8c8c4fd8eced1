import {
  type CallMethodRequest,
  DataType,
  type ISessionContext,
  MethodIds,
  type NodeId,
  ObjectIds,
  type OPCUAServer,
  type StatusCode,
  StatusCodes,
  sameNodeId,
  Variant,
  type WriteValue,
} from "node-opcua";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import type { Catalogue } from "../../../contracts/operation.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { variant } from "../node-opcua/computed-event.ts";
import { standardId } from "../node-opcua/lower.ts";
import {
  type AuditDetails,
  type AuditEvents,
  type AuditTypeName,
  clientOf,
  listOf,
  shownId,
  shownValue,
  statusField,
  text,
} from "./audit-events.ts";

/** Notes what became of the nodes of a write request, or of its nodes that were refused. */
export type NoteWrites = (
  context: ISessionContext,
  nodes: readonly WriteValue[],
  results: readonly StatusCode[],
) => void;
/** Notes what became of a method call. */
export type NoteCall = (context: ISessionContext, request: CallMethodRequest, status: StatusCode) => void;

const nothing = new Variant({});

/**
 * Raises an event for each node that a client has written, or wanted to. A value that was refused is not
 * shown: nothing has checked its size, nor where it belongs.
 */
export function auditWrites(events: AuditEvents): NoteWrites {
  return (context, nodes, results) => {
    if (!events.isSubscribed()) return;
    const client = clientOf(context);
    for (const [index, { nodeId, attributeId, indexRange, value }] of nodes.entries()) {
      const status = results[index];
      if (status === undefined) continue;
      events.raise(
        { type: "AuditWriteUpdateEventType", source: nodeId, service: "Attribute/Write", status, ...client },
        {
          AttributeId: variant(DataType.UInt32, attributeId),
          IndexRange: shownValue(text(indexRange.toString())),
          OldValue: nothing,
          NewValue: status.isGood() ? value.value : nothing,
        },
      );
    }
  };
}

const ofConditions = [
  [MethodIds.AcknowledgeableConditionType_Acknowledge, "AuditConditionAcknowledgeEventType", "Acknowledge"],
  [MethodIds.ConditionType_AddComment, "AuditConditionCommentEventType", "AddComment"],
] as const;
const conditionMethods = ofConditions.map(([id, type, name]) => ({ id: standardId(id), type, name }));

/** The arguments before the request of an operation: RequestId and ExpiresAt. */
const BEFORE_REQUEST = 2;
const hidden = text("***");

/**
 * Raises an event for each call that may change something: of a method of ours, of Acknowledge, and of
 * AddComment. It shows the arguments of a call that was not refused, and of those no secret.
 */
export function auditCalls(events: AuditEvents, catalogue: Catalogue): NoteCall {
  /** Methods whose request may contain secrets: headers of webhooks. */
  const withSecrets = new Set(
    [...catalogue.values()]
      .filter(({ secretMaps }) => (secretMaps ?? []).length > 0)
      .map(({ name }) => `Operations.${name}`),
  );

  function shownArguments({ methodId, inputArguments }: CallMethodRequest): readonly Variant[] {
    const hasSecrets = withSecrets.has(String(methodId.value));
    return (inputArguments ?? []).map((value, index) =>
      hasSecrets && index >= BEFORE_REQUEST ? hidden : shownValue(value),
    );
  }

  return (context, request, status) => {
    if (!events.isSubscribed()) return;
    const { objectId, methodId, inputArguments } = request;
    const ofCondition = conditionMethods.find(({ id }) => sameNodeId(id, methodId));
    if (ofCondition === undefined && methodId.namespace !== FLEET_NAMESPACE_INDEX) return;
    const isDone = status.isGood();
    const [eventId, comment] = isDone ? (inputArguments ?? []) : [];
    const type: AuditTypeName = ofCondition?.type ?? "AuditUpdateMethodEventType";
    const service = ofCondition === undefined ? "Attribute/Call" : `Method/${ofCondition.name}`;
    events.raise(
      { type, source: objectId, service, status, ...clientOf(context) },
      {
        ...statusField(status),
        MethodId: variant(DataType.NodeId, shownId(methodId)),
        InputArguments: isDone ? listOf(shownArguments(request)) : nothing,
        OutputArguments: nothing,
        ...(ofCondition === undefined
          ? {}
          : { ConditionEventId: eventId ?? nothing, Comment: shownValue(comment ?? nothing) }),
      },
    );
  };
}

/** The parts of node-opcua's session that its audit events show. */
interface Session {
  readonly nodeId: NodeId;
  readonly sessionTimeout: number;
  readonly sessionContext: ISessionContext;
  readonly channel?: { readonly channelId?: number | null; readonly clientCertificate: Buffer | null };
  once(
    event: "session_closed",
    listener: (session: unknown, deletesSubscriptions: boolean, reason: string) => void,
  ): void;
}

const serverId = standardId(ObjectIds.Server);

/**
 * Raises an event when a session is made, when a user logs on, and when the session ends. None has a token of
 * the user: that would contain the password.
 */
export function auditSessions(server: OPCUAServer, events: AuditEvents): void {
  function raise(type: AuditTypeName, service: string, session: Session, details: AuditDetails): void {
    if (!events.isSubscribed()) return;
    const client = clientOf(session.sessionContext);
    const status = StatusCodes.Good;
    events.raise(
      { type, service: `Session/${service}`, source: serverId, status, ...client },
      { ...statusField(status), SessionId: variant(DataType.NodeId, session.nodeId), ...details },
    );
  }

  server.on("create_session", (session: Session) => {
    raise("AuditCreateSessionEventType", "CreateSession", session, {
      SecureChannelId: channelIdOf(session),
      ClientCertificate: variant(DataType.ByteString, session.channel?.clientCertificate ?? null),
      RevisedSessionTimeout: variant(DataType.Double, session.sessionTimeout),
    });
    session.once("session_closed", (_session, _deletesSubscriptions, reason) =>
      raise("AuditSessionEventType", reason, session, {}),
    );
  });
  server.on("session_activated", (session: Session) =>
    raise("AuditActivateSessionEventType", "ActivateSession", session, {
      SecureChannelId: channelIdOf(session),
    }),
  );
}

/** Passes refusals of log-ons on, and raises each as an event. */
export function auditLogOns(events: AuditEvents, audit: RefusalAudit): RefusalAudit {
  return {
    refused(request, outcome) {
      audit.refused(request, outcome);
      if (!events.isSubscribed()) return;
      const status = StatusCodes.BadUserAccessDenied;
      events.raise(
        {
          type: "AuditActivateSessionEventType",
          service: "Session/ActivateSession",
          source: serverId,
          status,
          user: request.source.name,
          applicationUri: "",
        },
        statusField(status),
      );
    },
  };
}

function channelIdOf({ channel }: Session) {
  return text(channel?.channelId?.toString() ?? "");
}
