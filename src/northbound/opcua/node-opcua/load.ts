import { type ApplicationDescription, type OPCUAServer, ServiceFault, StatusCodes } from "node-opcua";
import type { Peer } from "../../../contracts/peers.ts";
import { clip } from "../../../domain/foreign-text.ts";
import { onAnswers } from "./lower.ts";
import { orphansOf } from "./orphans.ts";
import { isDisconnected, type Session, sessionsOf, userOf } from "./session-bounds.ts";

/** The counts of a server on which its memory depends. */
export interface ServerLoad {
  readonly monitoredItems: number;
  /** Of all namespaces. */
  readonly nodes: number;
}

/** Counts without walking over nodes or items, because it is called often. */
export function serverLoad(server: OPCUAServer): ServerLoad {
  const namespaces = server.engine.addressSpace?.getNamespaceArray() ?? [];
  const subscriptions = [
    ...sessionsOf(server).flatMap(({ publishEngine }) => publishEngine.subscriptions),
    ...orphansOf(server).map(({ subscription }) => subscription),
  ];
  return {
    monitoredItems: subscriptions.reduce((sum, { monitoredItemCount }) => sum + monitoredItemCount, 0),
    nodes: namespaces.reduce((sum, namespace) => sum + nodesOf(namespace), 0),
  };
}

/** node-opcua 2.182 has only an iterator. */
function nodesOf(namespace: object): number {
  const index: unknown = Reflect.get(namespace, "_nodeid_index");
  if (!(index instanceof Map)) throw new Error("node-opcua keeps nodes elsewhere now");
  return index.size;
}

/**
 * Refuses an answer that is too large for its client with BadResponseTooLarge (OPC UA part 4, 7.38).
 * node-opcua 2.182 sends BadTcpMessageTooLarge, on which other stacks close the connection. For an
 * initialised server that does not listen yet.
 */
export function nameLargeAnswers(server: OPCUAServer): void {
  onAnswers(server, (send) => (type, response, message, done) => {
    if (response instanceof ServiceFault) {
      const { responseHeader } = response;
      if (responseHeader.serviceResult === StatusCodes.BadTcpMessageTooLarge) {
        responseHeader.serviceResult = StatusCodes.BadResponseTooLarge;
      }
    }
    send(type, response, message, done);
  });
}

/** The parts of node-opcua's session that identify its user. */
interface Described {
  readonly clientDescription?: ApplicationDescription;
  readonly creationDate: Date;
}

/** Of texts that a client chooses. */
const LONGEST_TEXT = 200;

/** The sessions of a server, for operators. */
export function listSessions(server: OPCUAServer): readonly Peer[] {
  return sessionsOf(server).map((session) => {
    const { clientDescription, creationDate } = session as Session & Described;
    const { applicationName, applicationUri } = clientDescription ?? {};
    const isWaiting = session.status === "new";
    const isLost = isDisconnected(session);
    return {
      kind: "session",
      name: isWaiting ? "" : userOf(session.userIdentityToken),
      client: clip(applicationName?.text || applicationUri || "", LONGEST_TEXT),
      address: session.channel?.remoteAddress ?? "",
      state: isLost ? "lost" : isWaiting ? "waiting" : "connected",
      sinceMs: creationDate.getTime(),
      detail: isLost ? "its connection is gone: it is closed unless the client comes back" : "",
    };
  });
}
