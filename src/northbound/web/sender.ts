import type { FastifyRequest } from "fastify";
import type { Envelope } from "../../contracts/commander.ts";
import type { Role, Source } from "../../domain/command.ts";
import { isPlainText } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import { OPEN_USER } from "./options.ts";

const USER_CHARACTERS = 64;
/** The source of a request that names no user. */
const anonymous: Source = { protocol: "cli", name: "local" };

/** The source of a request. The second value is what is wrong with its sender; null: nothing. */
export type SenderOf = (request: FastifyRequest) => readonly [Source, string | null];

/**
 * The source of a request over the control socket: the user of its `Fleetgate-User` header, percent-encoded.
 * The mode of the socket file authorizes the request. The client chooses the name, for rights and the audit
 * log.
 */
export const senderOfSocket: SenderOf = ({ headers: { "fleetgate-user": header } }) => {
  if (header === undefined) return [anonymous, null];
  const name = decoded(String(header));
  // In a command's identity a slash separates the name from the request id.
  if (isPlainText(name, USER_CHARACTERS) && !name.includes("/")) return [{ ...anonymous, name }, null];
  const reason = `fleetgate-user: must be percent-encoded text of 1 to ${USER_CHARACTERS} printable characters without /`;
  return [anonymous, reason];
};

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** The address of a request, for the audit log. The control socket has no addresses. */
export function originOf({ raw }: FastifyRequest): Pick<Envelope, "origin"> {
  const address = raw.socket.remoteAddress;
  return address === undefined ? {} : { origin: { address } };
}

/** Without log-in, everybody is the same viewer. The configuration's rights decide what it may command. */
export const openViewer: Viewer = { name: OPEN_USER, role: "engineer", robots: null };

/** The source of a request over the web listener: the viewer. */
export function senderOfViewer(viewerOf: ViewerOf): SenderOf {
  return (request) => {
    const viewer = viewerOf(request);
    if (viewer === null) return [{ protocol: "web", name: "nobody" }, "log in first"];
    return [{ protocol: "web", name: viewer.name }, null];
  };
}

/** The sender of a request over the web listener. */
export interface Viewer {
  /** The user, or the name of a token. */
  readonly name: string;
  readonly role: Role;
  /** The robots that it may command; null: all. Everybody may read. */
  readonly robots: readonly RobotId[] | null;
}

/** Null: the request has no valid credential. */
export type ViewerOf = (request: FastifyRequest) => Viewer | null;
