import {
  DataType,
  type ISessionContext,
  type NodeId,
  ObjectIds,
  type OPCUAServer,
  StatusCodes,
} from "node-opcua";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { standardId } from "../node-opcua/lower.ts";
import { type AuditEvents, type AuditTypeName, clientOf } from "./audit-events.ts";
import { type AuditDetails, statusField, text, variant } from "./audit-fields.ts";

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
