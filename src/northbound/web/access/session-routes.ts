import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Commander, CommandRecords, Envelope, RefusalAudit } from "../../../contracts/commander.ts";
import { isPlainText, refusal } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createLogOnDelays, createLogOnHold } from "../../../platform/log-on-delay.ts";
import { createPasswordQueue, isPassword } from "../../../platform/password.ts";
import type { SessionFacts } from "../api/session.ts";
import type { WebUser } from "../options.ts";
import { sendProblem } from "../problem.ts";
import { readBody } from "../request-body.ts";
import type { Viewer, ViewerOf } from "../sender.ts";
import type { AccessAudit, Session, SessionCookie, Sessions } from "./sessions.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route needs no log-in: its answer reveals nothing of the fleet. */
    readonly isPublic?: boolean;
  }
}

/** The options of a route that needs no log-in. All others need one if there are users or tokens. */
export const publicRoute = { config: { isPublic: true } } as const;

/** An attempt to log in. */
interface LogInAttempt {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** Whether the client is still connected. */
  isThere(): boolean;
}

export type LogInResult =
  | { readonly kind: "right"; readonly user: WebUser }
  /** The user or the password is wrong. */
  | { readonly kind: "wrong"; readonly delayMs: number }
  /** Nothing was compared. */
  | { readonly kind: "later"; readonly delayMs: number };

/** Checks attempts to log in, and delays those that follow failed ones. */
type LogIn = (attempt: LogInAttempt) => Promise<LogInResult>;

/** After this time a client may try again if too many others were trying. */
const BUSY_MS = 1_000;

/** @param users returns the present users */
export function createLogIn(users: () => readonly WebUser[], audit: AccessAudit, clock: Clock): LogIn {
  const delays = createLogOnDelays(clock);
  const hold = createLogOnHold(delays, clock);
  const queue = createPasswordQueue();
  const find = (wanted: string) => users().find(({ name }) => name === wanted);

  async function verify({ name, password, address, isThere }: LogInAttempt): Promise<LogInResult> {
    const user = find(name);
    const whose = { address, user: user === undefined ? null : name, isThere };
    const answer = await queue.take(whose, () => isPassword(user?.password ?? null, password));
    if (answer === "busy") return { kind: "later", delayMs: BUSY_MS };
    const now = find(name);
    // A reload may have removed the user, or changed its password, meanwhile.
    if (answer && now !== undefined && now.password === user?.password) {
      delays.succeeded(name, address);
      return { kind: "right", user: now };
    }
    const { count, delayMs } = delays.failed(name, address);
    audit.failed(name, address, `wrong user or password; failed log-ins in a row: ${count}`);
    return { kind: "wrong", delayMs };
  }

  return (attempt) =>
    new Promise((resolve, reject) => {
      const { name, address } = attempt;
      hold.pass(
        { who: [name, address], isThere: () => attempt.isThere() },
        () => void verify(attempt).then(resolve, reject),
        () => resolve({ kind: "later", delayMs: Math.max(delays.waitMs(name, address), BUSY_MS) }),
      );
    });
}

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

export interface LimitedMovesParts {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "knows">;
  readonly audit: RefusalAudit;
  /** Addresses and networks from which robots may be moved at present; null: all. */
  readonly movesFrom: () => readonly string[] | null;
}

/** A commander that moves robots for some addresses only. Stops and changes are accepted from everywhere. */
export function limitMoves({ commander, records, audit, movesFrom }: LimitedMovesParts): Commander {
  /** The robot that a command would move; undefined: it moves none. */
  function movedRobot({ operation, request }: Envelope): RobotId | null | undefined {
    if (!("json" in request)) return undefined;
    const read = commander.read(operation, request.json);
    return "effect" in read && read.effect === "moves" ? read.robotId : undefined;
  }

  const refusedFor = (operation: string, address: string) => {
    const why = refusedMoves(address, movesFrom());
    return why === null ? null : refusal("NOT_ALLOWED", `${operation} moves a robot, and ${why}`);
  };

  return {
    ...commander,
    async check(envelope) {
      const outcome = await commander.check(envelope);
      if (outcome.outcome !== "checked" || movedRobot(envelope) === undefined) return outcome;
      return refusedFor(envelope.operation, envelope.origin?.address ?? "") ?? outcome;
    },
    submit(envelope, signal, onStage) {
      const { source, requestId, operation, origin } = envelope;
      // A repetition sends nothing, and must get its outcome.
      const isKnown = requestId !== null && records.knows(source, requestId);
      const refused = isKnown ? null : refusedFor(operation, origin?.address ?? "");
      const robotId = refused === null ? undefined : movedRobot(envelope);
      if (refused === null || robotId === undefined) return commander.submit(envelope, signal, onStage);
      audit.refused(
        { source, requestId, operation, robotId, ...(origin === undefined ? {} : { origin }) },
        refused,
      );
      return Promise.resolve(refused);
    },
  };
}

/** Why no robot may be moved from an address; null: it may. */
export function refusedMoves(address: string, from: readonly string[] | null): string | null {
  if (from === null || isWithin(address, from)) return null;
  return `web.commands.from does not name the address ${address}`;
}

/** An IPv4 address that arrives at an IPv6 listener is the same address. */
function isWithin(address: string, networks: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const given = ipaddr.process(address);
  return networks.some((text) => {
    const [network, bits] = ipaddr.isValidCIDR(text)
      ? ipaddr.parseCIDR(text)
      : ([ipaddr.process(text), null] as const);
    if (network.kind() !== given.kind()) return false;
    return bits === null ? network.toString() === given.toString() : given.match(network, bits);
  });
}
