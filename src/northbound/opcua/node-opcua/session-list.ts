import type { ApplicationDescription, OPCUAServer } from "node-opcua";
import type { Peer } from "../../../contracts/peers.ts";
import { clip } from "../../../domain/clip.ts";
import { isDisconnected, type Session, sessionsOf, userOf } from "./session-bounds.ts";

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
