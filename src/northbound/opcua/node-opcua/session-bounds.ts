import {
  DataType,
  type NodeId,
  type OPCUAServer,
  ServiceFault,
  type StatusCode,
  StatusCodes,
  Subscription,
  type UAVariable,
  UserNameIdentityToken,
  VariableIds,
} from "node-opcua";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { OpcUaOptions } from "../options.ts";
import { ANONYMOUS } from "../security.ts";
import { createClientRefusals } from "./client-refusals.ts";
import { wrap } from "./lower.ts";
import { expireOrphans, orphansOf, retireOrphan } from "./orphans.ts";
import { shareAmongUsers } from "./user-shares.ts";

/** Sessions by user, for the health. */
export interface SessionBounds {
  /** Sessions and subscriptions that were refused for lack of room. */
  readonly refusedCount: number;
  /** The last refused client and the reason, as a sentence; null: none. */
  problem(): string | null;
  /** Closes the sessions of these users, with their subscriptions. */
  end(users: ReadonlySet<string>): void;
}

/**
 * How many sessions without a user there may be: in all, and of one client, which is more than the waiting
 * log-ons of one user (`MOST_HELD` of platform/log-on-delay.ts). Each has this long to get a user.
 */
const MOST_UNACTIVATED = 50;
const MOST_UNACTIVATED_OF_CLIENT = 40;
const ACTIVATION_MS = 10_000;
/** A session is idle when its connection is gone, or after this time without a request. */
const IDLE_MS = 30_000;

/** The parts of node-opcua's session and channel that are needed here. */
export interface Session {
  readonly status: "new" | "active" | "screwed" | "disposed" | "closed";
  readonly channel?: Channel | undefined;
  readonly userIdentityToken?: unknown;
  readonly authenticationToken: unknown;
  readonly currentSubscriptionCount: number;
  readonly publishEngine: { readonly subscriptions: readonly { readonly monitoredItemCount: number }[] };
  /** Milliseconds since its last request. */
  readonly clientLastContactTime: number;
  once(event: "session_closed", listener: () => void): void;
}
interface Channel {
  readonly remoteAddress: string;
  readonly clientCertificate: Buffer | null;
  readonly isOpened: boolean;
  send_response(type: string, response: unknown, message: unknown): void;
}
interface SubscriptionRequest {
  readonly requestHeader: { readonly authenticationToken: unknown };
  readonly requestedPublishingInterval: number;
  requestedMaxKeepAliveCount: number;
}
interface Message {
  readonly request: SubscriptionRequest;
}
type Handle = (message: Message, channel: Channel) => unknown;
type Authorize = (channel: Channel, session: Session, token: unknown, answer: Authorized) => unknown;
type Authorized = (error: Error | null, isAuthorized?: boolean, status?: StatusCode) => void;

/**
 * Bounds the sessions and subscriptions of an initialised server for each user (user-shares.ts). At the
 * bound, a user's own session that was idle longest is closed; never another user's. Sessions without a user
 * have a bound of their own, and 10 s. A subscription without a session has two minutes.
 */
export function boundSessions(
  server: OPCUAServer,
  options: OpcUaOptions,
  clock: Clock,
  log: Log,
): SessionBounds {
  const { maxSessions, maxSessionsPerUser, maxSubscriptions } = options.limits;
  const sessionShares = shareAmongUsers(options, {
    total: maxSessions,
    perUser: maxSessionsPerUser,
    ofCommander: 4,
    ofReader: 1,
  });
  const subscriptionShares = shareAmongUsers(options, {
    total: maxSubscriptions,
    perUser: Math.ceil(maxSubscriptions / 2),
    ofCommander: 8,
    ofReader: 2,
  });
  const refusals = createClientRefusals(clock, log);

  function mayCreate(channel: Channel): boolean {
    // A session whose connection is gone cannot be activated any more (OPC UA part 4, 5.6.3).
    const unactivated = sessionsOf(server).filter(({ status }) => status === "new");
    for (const session of unactivated.filter(isDisconnected)) close(server, session);
    const waiting = unactivated.filter((session) => !isDisconnected(session));
    const own = waiting.filter((session) => clientOf(session.channel) === clientOf(channel)).length;
    const mayTry = own < MOST_UNACTIVATED_OF_CLIENT;
    if (mayTry && (waiting.length < MOST_UNACTIVATED || makeRoom(server, waiting, own))) return true;
    refusals.refuse(
      "(unactivated)",
      `${waiting.length} sessions wait for a user, ${own} of ${channel.remoteAddress}`,
    );
    return false;
  }

  function mayActivate(session: Session, user: string): boolean {
    const others = sessionsOf(server).filter((other) => other !== session && other.status === "active");
    const taken = countByUser(others, () => 1);
    if (sessionShares.hasRoom(user, taken)) return true;
    const own = others.filter((other) => userOf(other.userIdentityToken) === user);
    const [idle] = own.filter(isIdle).sort((a, b) => b.clientLastContactTime - a.clientLastContactTime);
    if (idle !== undefined) {
      close(server, idle);
      log.info({ user }, "an idle OPC UA session gave way to a new one of the same user");
      return true;
    }
    refusals.refuse(user, `user ${user} has ${own.length} sessions, of ${others.length} in all`);
    return false;
  }

  function maySubscribe(message: Message): boolean {
    const { authenticationToken: token } = message.request.requestHeader;
    // Undefined, in spite of its type, for a token of the right kind that is no session's.
    const session = server.engine.getSession(token as NodeId, true) as Session | null | undefined;
    if (session === null || session === undefined) return true; // node-opcua answers it.
    const user = userOf(session.userIdentityToken);
    const counts = countByUser(
      sessionsOf(server),
      ({ currentSubscriptionCount }) => currentSubscriptionCount,
    );
    for (const { owner } of orphansOf(server)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    if (subscriptionShares.hasRoom(user, counts) || retireOrphan(server, user, log)) return true;
    refusals.refuse(`${user} subscriptions`, `user ${user} has ${counts.get(user) ?? 0} subscriptions`);
    return false;
  }

  wrap<Handle>(server, "_on_CreateSessionRequest", (handle) => (message, channel) => {
    if (mayCreate(channel)) return handle(message, channel);
    return answerWith(StatusCodes.BadTooManySessions, message, channel);
  });
  wrap<Handle>(server, "_on_CreateSubscriptionRequest", (handle) => (message, channel) => {
    if (!maySubscribe(message)) return answerWith(StatusCodes.BadTooManySubscriptions, message, channel);
    boundLifetime(message.request);
    return handle(message, channel);
  });
  wrap<Handle>(server, "_on_ModifySubscriptionRequest", (handle) => (message, channel) => {
    boundLifetime(message.request);
    return handle(message, channel);
  });
  wrap<Authorize>(server, "isUserAuthorized", (authorize) => {
    return (channel, session, token, answer) =>
      authorize(channel, session, token, (error, isAuthorized, status) => {
        const mayGoOn = error !== null || isAuthorized !== true || mayActivate(session, userOf(token));
        if (mayGoOn) answer(error, isAuthorized, status);
        else answer(null, false, StatusCodes.BadTooManySessions);
      });
  });
  server.on("create_session", (session: Session) => {
    const cancel = clock.after(ACTIVATION_MS, () => {
      if (session.status === "new") close(server, session);
    });
    // Nothing of a session outlives it.
    session.once("session_closed", cancel);
  });
  expireOrphans(server, clock);
  widen(server, maxSessions);

  return {
    get refusedCount() {
      return refusals.count;
    },
    problem: refusals.problem,
    end: (users) => endSessions(server, users, log),
  };
}

/** Closes the oldest session of the client with the most, for a client with fewer. False: none has more. */
function makeRoom(server: OPCUAServer, waiting: readonly Session[], own: number): boolean {
  const ofClient = (client: string) => waiting.filter(({ channel }) => clientOf(channel) === client);
  const clients = [...new Set(waiting.map(({ channel }) => clientOf(channel)))].map(ofClient);
  const [most = []] = clients.sort((one, other) => other.length - one.length);
  const [oldest] = most;
  if (oldest === undefined || most.length <= own + 1) return false;
  close(server, oldest);
  return true;
}

function endSessions(server: OPCUAServer, users: ReadonlySet<string>, log: Log): void {
  for (const session of sessionsOf(server)) {
    const user = userOf(session.userIdentityToken);
    if (!users.has(user)) continue;
    close(server, session, true);
    log.info(
      { user },
      "an OPC UA session was closed: the configuration took its user, password or certificate",
    );
  }
}

/**
 * node-opcua bounds the lifetime to an hour, and then triples it by the longest silence that the client
 * allows: up to 25 days. The answer contains the result (OPC UA part 4, 5.14.2).
 */
function boundLifetime(request: SubscriptionRequest): void {
  const { minimumPublishingInterval: shortest, maximumPublishingInterval: longest } = Subscription;
  const intervalMs = Math.min(Math.max(request.requestedPublishingInterval || 0, shortest), longest);
  const most = Math.floor(Subscription.maximumLifetimeDuration / intervalMs / 3);
  request.requestedMaxKeepAliveCount = Math.min(request.requestedMaxKeepAliveCount, most);
}

/**
 * For node-opcua, sessions without a user come on top; clients are told how many sessions with a user there
 * may be.
 */
function widen({ engine }: OPCUAServer, maxSessions: number): void {
  engine.serverCapabilities.maxSessions = maxSessions + MOST_UNACTIVATED;
  const id = `ns=0;i=${VariableIds.Server_ServerCapabilities_MaxSessions}`;
  const variable = engine.addressSpace?.findNode(id) as UAVariable | null | undefined;
  variable?.bindVariable({}, true);
  variable?.setValueFromSource({ dataType: DataType.UInt32, value: maxSessions });
}

function answerWith(status: StatusCode, message: Message, channel: Channel): void {
  channel.send_response("MSG", new ServiceFault({ responseHeader: { serviceResult: status } }), message);
}

function countByUser(sessions: readonly Session[], count: (session: Session) => number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const session of sessions) {
    const user = userOf(session.userIdentityToken);
    counts.set(user, (counts.get(user) ?? 0) + count(session));
  }
  return counts;
}

export function sessionsOf({ engine }: OPCUAServer): readonly Session[] {
  const sessions: unknown = Reflect.get(engine, "_sessions");
  if (typeof sessions !== "object" || sessions === null)
    throw new Error("node-opcua keeps its sessions elsewhere now");
  return Object.values(sessions);
}

/** @param isRevoked its subscriptions must not outlive it for another session of the user */
function close({ engine }: OPCUAServer, session: Session, isRevoked = false): void {
  const reason = isRevoked ? "Terminated" : "Timeout";
  Reflect.apply(Reflect.get(engine, "closeSession"), engine, [
    session.authenticationToken,
    isRevoked,
    reason,
  ]);
}

export function userOf(token: unknown): string {
  return token instanceof UserNameIdentityToken ? (token.userName ?? "") : ANONYMOUS;
}

function clientOf(channel: Channel | undefined): string {
  if (channel === undefined) return "";
  return channel.clientCertificate?.toString("base64") ?? channel.remoteAddress;
}

function isIdle(session: Session): boolean {
  return isDisconnected(session) || session.clientLastContactTime > IDLE_MS;
}

export function isDisconnected({ channel }: Session): boolean {
  return channel === undefined || !channel.isOpened;
}
