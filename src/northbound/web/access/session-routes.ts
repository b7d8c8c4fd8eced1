import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isPlainText } from "../../../domain/refusals.ts";
import type { SessionFacts } from "../api/session.ts";
import { sendProblem } from "../problem.ts";
import { readBody } from "../request-body.ts";
import type { Viewer, ViewerOf } from "../viewer.ts";
import type { AccessAudit } from "./access-audit.ts";
import type { LogIn, LogInAttempt } from "./log-in.ts";
import { publicRoute } from "./public-route.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Session, Sessions } from "./sessions.ts";

export interface SessionRouteParts {
  readonly isOpen: () => boolean;
  readonly viewerOf: ViewerOf;
  readonly logIn: LogIn;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly audit: AccessAudit;
}

const PATH = "/api/v1/session";
const LONGEST_NAME = 64;
const LONGEST_PASSWORD = 256;
/** Each character may be escaped in JSON. */
const BODY_BYTES = (LONGEST_NAME + LONGEST_PASSWORD) * 6 + 256;

/**
 * `POST /api/v1/session` with `{"user","password"}` logs in: 200 with the user, and the cookie of a new
 * session; 401 if user or password is wrong; 429 with `Retry-After` while a failed attempt delays it. `GET`
 * answers 200 with the user or the token of the request, or 401. `DELETE` logs out, and answers 204.
 */
export function addSessionRoutes(server: FastifyInstance, parts: SessionRouteParts): void {
  const { isOpen, viewerOf, logIn, sessions, cookie, audit } = parts;
  const options = { ...publicRoute, bodyLimit: BODY_BYTES };

  /** The browser's earlier session must not become another user's. */
  function endFormer({ headers }: FastifyRequest): void {
    const former = cookie.read(headers.cookie);
    if (former !== null) sessions.end(former, "log_out");
  }

  server.post(PATH, options, async (request, reply) => {
    if (isOpen()) return sendProblem(reply, 409, "web.users and web.tokens are empty: everybody is let in");
    const attempt = readAttempt(request);
    if (typeof attempt === "string") return sendProblem(reply, 400, attempt);
    const result = await logIn(attempt);
    if (result.kind === "right") {
      endFormer(request);
      const { secret, session } = sessions.open(result.user);
      audit.began(result.user, attempt.address);
      return reply.header("set-cookie", cookie.set(secret)).send(sessionJson(session.user, session));
    }
    reply.header("retry-after", Math.ceil(result.delayMs / 1_000));
    if (result.kind === "wrong") return sendUnauthorized(reply, "user or password is wrong");
    return sendProblem(reply, 429, "too many log-ins: try again later");
  });

  server.get(PATH, options, async (request, reply) => {
    if (isOpen()) return reply.send(openSession);
    const viewer = viewerOf(request);
    if (viewer === null) return sendUnauthorized(reply);
    const secret = cookie.read(request.headers.cookie);
    const session = secret === null ? null : sessions.find(secret);
    return reply.send(sessionJson(viewer, session?.user.name === viewer.name ? session : null));
  });

  server.delete(PATH, options, async (request, reply) => {
    endFormer(request);
    return reply.code(204).header("set-cookie", cookie.clear()).send();
  });
}

/**
 * Refuses a request without a valid credential, in a way that makes no browser ask for a password by itself.
 */
export function sendUnauthorized(
  reply: FastifyReply,
  detail = `log in by POST ${PATH}, or send a token: Authorization: Bearer TOKEN`,
): FastifyReply {
  return sendProblem(reply.header("www-authenticate", 'Bearer realm="fleetgate"'), 401, detail);
}

/** The attempt of a request, or a sentence with what is wrong with it. */
function readAttempt({ body, raw, ip }: FastifyRequest): LogInAttempt | string {
  const read = readBody(body, ["user", "password"]);
  if (!read.ok) return read.reason;
  const { user, password } = read.object;
  if (!isPlainText(user, LONGEST_NAME)) return `user: must be text of 1 to ${LONGEST_NAME} characters`;
  if (typeof password !== "string" || password === "" || password.length > LONGEST_PASSWORD)
    return `password: must be text of 1 to ${LONGEST_PASSWORD} characters`;
  return { name: user, password, address: ip, isThere: () => !raw.socket.destroyed };
}

const openSession: SessionFacts = { open: true, name: null, role: null, robots: null, expires_at: null };

function sessionJson({ name, role, robots }: Viewer, session: Session | null): SessionFacts {
  const expiresAt = session === null ? null : new Date(session.endsAtMs).toISOString();
  return { open: false, name, role, robots, expires_at: expiresAt };
}
