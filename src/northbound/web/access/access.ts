import { timingSafeEqual } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RefusalAudit, SessionAudit } from "../../../contracts/commander.ts";
import { quoted } from "../../../domain/foreign-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { digestOf } from "../../../platform/password.ts";
import { hostIn } from "../host-check.ts";
import type { WebAccess, WebToken } from "../options.ts";
import { sendProblem } from "../problem.ts";
import { openViewer, type Viewer, type ViewerOf } from "../sender.ts";
import { addSessionRoutes, createLogIn, type LogInResult, sendUnauthorized } from "./session-routes.ts";
import { createAccessAudit, createSessionCookie, createSessions, type Session } from "./sessions.ts";

export interface AccessParts {
  readonly gatewayId: string;
  readonly isTls: boolean;
  readonly audit: RefusalAudit & SessionAudit;
  readonly clock: Clock;
  readonly log: Log;
}

/** Decides who may use the web listener. */
export interface Access {
  readonly viewerOf: ViewerOf;
  /** Checks the password of a session's user once more, with the delays of log-ins. */
  readonly confirm: ConfirmUser;
  /** Guards every route, and adds the routes of sessions. */
  addTo(server: FastifyInstance): void;
  /** The configuration has changed: ends all that it no longer allows. */
  changed(): void;
  figures(): Readonly<Record<string, number>>;
  /** Ends all sessions. */
  close(): void;
}

/** Whether a password is that of the user of a request's session. */
export type ConfirmUser = (request: FastifyRequest, password: string) => Promise<Confirmed>;

export type Confirmed =
  | LogInResult
  /** Without users there is no password. A program with a token has none either. */
  | { readonly kind: "open" }
  | { readonly kind: "no_user" };

/** The credential of a request. */
type Credential =
  | { readonly kind: "open" }
  | { readonly kind: "token"; readonly token: WebToken }
  | { readonly kind: "session"; readonly session: Session };

const open: Credential = { kind: "open" };

/** @param options returns the present options */
export function createAccess(
  options: () => WebAccess,
  { gatewayId, isTls, audit: auditLog, clock, log }: AccessParts,
): Access {
  const isUser = (name: string) => options().users.some((user) => user.name === name);
  const audit = createAccessAudit({ isUser, audit: auditLog, clock, log });
  const sessions = createSessions(clock, audit.ended);
  const cookie = createSessionCookie(gatewayId, isTls);
  const logIn = createLogIn(() => options().users, audit, clock);
  const credentials = new WeakMap<FastifyRequest, Credential | null>();
  /** Closes the requests under way that have no session. */
  const underWay = new Map<() => void, Credential>();

  const isOpen = () => isOpenAccess(options());

  function identify({ headers, ip }: FastifyRequest): Credential | null {
    if (isOpen()) return open;
    const shown = headers.authorization === undefined ? null : bearerOf(headers.authorization);
    if (shown !== null) {
      const token = findToken(options().tokens, shown);
      if (token !== null) return { kind: "token", token };
      audit.failed("?", ip, "unknown token");
      return null;
    }
    const secret = cookie.read(headers.cookie);
    const session = secret === null ? null : sessions.find(secret);
    return session === null ? null : { kind: "session", session };
  }

  function credentialOf(request: FastifyRequest): Credential | null {
    const known = credentials.get(request);
    if (known !== undefined) return known;
    const credential = identify(request);
    credentials.set(request, credential);
    return credential;
  }

  /** Closes the request when its credential ends. */
  function follow(credential: Credential, { raw }: FastifyReply): void {
    const close = () => void raw.destroy();
    if (credential.kind === "session") {
      raw.once("close", credential.session.began(close));
      return;
    }
    underWay.set(close, credential);
    raw.once("close", () => underWay.delete(close));
  }

  function isValid(credential: Credential): boolean {
    if (credential.kind !== "token") return credential.kind === "session" || isOpen();
    return options().tokens.some((token) => isDeepStrictEqual(token, credential.token));
  }

  const viewerOf: ViewerOf = (request) => {
    const credential = credentialOf(request);
    return credential === null ? null : viewerBy(credential);
  };

  const confirm: ConfirmUser = async (request, password) => {
    const credential = credentialOf(request);
    if (credential?.kind === "open") return credential;
    if (credential?.kind !== "session") return { kind: "no_user" };
    const { ip: address, raw } = request;
    const { name } = credential.session.user;
    return logIn({ name, password, address, isThere: () => !raw.socket.destroyed });
  };

  return {
    viewerOf,
    confirm,
    addTo(server) {
      server.addHook("onRequest", async (request, reply) => {
        const { url, config } = request.routeOptions;
        if (url === undefined) return;
        const problem = isOfPages(url)
          ? null
          : foreignPage({ ...request.headers, host: hostIn(request.headers) }, isTls);
        if (problem !== null) return sendProblem(reply, 403, problem);
        if (config.isPublic === true) return;
        const credential = credentialOf(request);
        if (credential === null) return sendUnauthorized(reply);
        follow(credential, reply);
      });
      addSessionRoutes(server, { isOpen, viewerOf, logIn, sessions, cookie, audit });
    },
    changed() {
      const { users } = options();
      sessions.endOf((user) => !users.some((each) => isDeepStrictEqual(each, user)), "user_changed");
      for (const [close, credential] of underWay) if (!isValid(credential)) close();
    },
    figures: () => ({ sessions: sessions.count() }),
    close: () => sessions.endOf(() => true, "shutdown"),
  };
}

/** Whether everybody who reaches the listener may use it. */
export function isOpenAccess({ users, tokens }: WebAccess): boolean {
  return users.length === 0 && tokens.length === 0;
}

/** Another website may link to a page, but may not ask for data. */
function isOfPages(url: string): boolean {
  return !url.startsWith("/api/") && url !== "/metrics";
}

function viewerBy(credential: Credential): Viewer {
  if (credential.kind === "open") return openViewer;
  const { name, role, robots } = credential.kind === "token" ? credential.token : credential.session.user;
  return { name, role, robots };
}

/** The token of an `Authorization` header; null: the header has another scheme, or no token. */
function bearerOf(header: string): string | null {
  return /^Bearer +([\w.~+/-]{1,256}=*)$/i.exec(header)?.[1] ?? null;
}

/** The token of the configuration that the client sent; if there is one. */
function findToken(tokens: readonly WebToken[], shown: string): WebToken | null {
  const digest = digestOf(shown);
  return tokens.find((token) => timingSafeEqual(Buffer.from(token.digest, "hex"), digest)) ?? null;
}

/** The headers of a browser's request that name the page that sent it. */
interface PageHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | string[] | undefined;
}

/**
 * Why a request from a page of another origin is refused, as a sentence; null for any other request. Programs
 * send none of these headers. For a page of another port of this host a browser sends `same-site`, and the
 * cookies of this gateway.
 */
function foreignPage({ host, origin, "sec-fetch-site": site }: PageHeaders, isTls: boolean): string | null {
  const advice = "only the gateway's own page may ask this from a browser";
  if (origin !== undefined && !isOwnOrigin(origin, host, isTls))
    return `the origin ${quoted(origin)}: ${advice}`;
  if (site !== undefined && site !== "same-origin" && site !== "none") return `a foreign page: ${advice}`;
  return null;
}

/** Without TLS either scheme may be its own: a proxy before the gateway may end TLS. */
function isOwnOrigin(origin: string, host: string | undefined, isTls: boolean): boolean {
  const scheme = isTls ? /^https:\/\//i : /^https?:\/\//i;
  if (host === undefined || !scheme.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: wanted } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === wanted;
}
