import { createHash, randomBytes } from "node:crypto";
import type { RefusalAudit, SessionAudit } from "../../../contracts/commander.ts";
import type { Source } from "../../../domain/command.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Cancel, Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createLineBudget } from "../../../platform/log-bounds.ts";
import { createLogOnReports } from "../../../platform/log-on-delay.ts";
import type { WebUser } from "../options.ts";

/** Why a session ended. */
export type SessionEnd = "log_out" | "idle" | "expired" | "evicted" | "user_changed" | "shutdown";

/** A user that has logged in. */
export interface Session {
  /** The user, as configured at the log-in. */
  readonly user: WebUser;
  /** Wall time in milliseconds at which it ends at the latest. */
  readonly endsAtMs: number;
  /**
   * A request is under way, which keeps the session from being idle. Call the returned function when it is
   * done.
   */
  began(close: () => void): () => void;
}

/**
 * The sessions of users that have logged in. They are in memory only: a restart ends them
 * (docs/internals/decisions.md, Sessions are in memory).
 */
export interface Sessions {
  /** Opens a session; the secret is for its cookie. */
  open(user: WebUser): { readonly secret: string; readonly session: Session };
  /** The session of a secret; null: it has ended, or never existed. */
  find(secret: string): Session | null;
  /** Ends a session, if there is one, and closes its requests under way. */
  end(secret: string, why: SessionEnd): void;
  /** Ends the sessions of these users. */
  endOf(isOver: (user: WebUser) => boolean, why: SessionEnd): void;
  count(): number;
}

/** A session ends after this time without a request. A page in use has a stream under way. */
export const IDLE_MS = 30 * 60_000;
/** One shift, and the handover. */
export const LONGEST_MS = 12 * 3_600_000;
/** Of one user; the session that was used least recently is evicted. The configuration bounds the users. */
export const MOST_OF_USER = 8;
const SECRET_BYTES = 32;

interface OpenSession extends Session {
  readonly key: string;
  readonly closers: Set<() => void>;
  readonly endsAt: number;
  usedAt: number;
  cancel: Cancel;
}

/** @param onEnd is called at each end of a session */
export function createSessions(clock: Clock, onEnd: (user: WebUser, why: SessionEnd) => void): Sessions {
  /**
   * By the digest of the secret, so that the time of a search reveals nothing of it. Least recently used
   * first.
   */
  const sessions = new Map<string, OpenSession>();

  function close(session: OpenSession, why: SessionEnd): void {
    if (!sessions.delete(session.key)) return;
    session.cancel();
    onEnd(session.user, why);
    for (const closeRequest of session.closers) closeRequest();
  }

  function touch(session: OpenSession): void {
    session.usedAt = clock.monotonicMs();
    if (sessions.delete(session.key)) sessions.set(session.key, session);
  }

  function endReason({ closers, endsAt, usedAt }: OpenSession): SessionEnd | null {
    const now = clock.monotonicMs();
    if (now >= endsAt) return "expired";
    return closers.size === 0 && now >= usedAt + IDLE_MS ? "idle" : null;
  }

  function watch(session: OpenSession): void {
    const now = clock.monotonicMs();
    const idleInMs = session.closers.size > 0 ? IDLE_MS : session.usedAt + IDLE_MS - now;
    session.cancel = clock.after(Math.max(1, Math.min(session.endsAt - now, idleInMs)), () => {
      const why = endReason(session);
      if (why === null) watch(session);
      else close(session, why);
    });
  }

  function began(session: OpenSession, closeRequest: () => void): () => void {
    session.closers.add(closeRequest);
    return () => {
      if (session.closers.delete(closeRequest)) touch(session);
    };
  }

  return {
    open(user) {
      const own = [...sessions.values()].filter((each) => each.user.name === user.name);
      for (const oldest of own.slice(0, Math.max(0, own.length + 1 - MOST_OF_USER))) close(oldest, "evicted");
      const secret = randomBytes(SECRET_BYTES).toString("base64url");
      const now = clock.monotonicMs();
      const session: OpenSession = {
        user,
        key: keyOf(secret),
        closers: new Set(),
        endsAt: now + LONGEST_MS,
        endsAtMs: clock.nowMs() + LONGEST_MS,
        usedAt: now,
        cancel: () => {},
        began: (closeRequest) => began(session, closeRequest),
      };
      sessions.set(session.key, session);
      watch(session);
      return { secret, session };
    },
    find(secret) {
      const session = sessions.get(keyOf(secret));
      if (session === undefined) return null;
      // The timer may be late, as after a suspended machine.
      const why = endReason(session);
      if (why !== null) {
        close(session, why);
        return null;
      }
      touch(session);
      return session;
    },
    end(secret, why) {
      const session = sessions.get(keyOf(secret));
      if (session !== undefined) close(session, why);
    },
    endOf(isOver, why) {
      for (const session of [...sessions.values()]) if (isOver(session.user)) close(session, why);
    },
    count: () => sessions.size,
  };
}

function keyOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

/** The cookie that names a browser's session. */
export interface SessionCookie {
  readonly name: string;
  /** The header that gives a browser its session. */
  set(secret: string): string;
  /** The header that takes it away. */
  clear(): string;
  /** The secret in a `Cookie` header; null: there is none, or more than one. */
  read(header: string | undefined): string | null;
}

/**
 * Browsers send the cookies of a host to all its ports, so the name has the gateway's id. With `__Host-` a
 * browser accepts the cookie only over TLS and from the host itself: no other host of the domain can set it.
 */
export function createSessionCookie(gatewayId: string, isTls: boolean): SessionCookie {
  const name = `${isTls ? "__Host-" : ""}fleetgate_session_${Buffer.from(gatewayId).toString("hex")}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isTls ? "; Secure" : ""}`;
  return {
    name,
    set: (secret) => `${name}=${secret}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
    read(header = "") {
      const values = header.split(";").flatMap((part) => {
        const at = part.indexOf("=");
        return at !== -1 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : [];
      });
      // Somebody else has set a second one, and nothing tells which is the browser's own.
      return values.length === 1 ? (values[0] ?? null) : null;
    },
  };
}

/** Reports log-ins and log-outs to the log and the audit log, within bounds. */
export interface AccessAudit {
  /** @param why a sentence without its end */
  failed(name: string, address: string, why: string): void;
  began(user: WebUser, address: string): void;
  ended(user: WebUser, why: SessionEnd): void;
}

interface AccessAuditParts {
  readonly isUser: (name: string) => boolean;
  readonly audit: RefusalAudit & SessionAudit;
  readonly clock: Clock;
  readonly log: Log;
}

/** Each session has two lines. */
const SESSION_LINES = { most: 120, windowMs: 60_000 };

export function createAccessAudit({ isUser, audit, clock, log }: AccessAuditParts): AccessAudit {
  const reports = createLogOnReports(clock, isUser, (count) => {
    report("", {}, `${count} more log-ins have failed within a minute`);
    log.warn({ count }, "more web log-ins failed than the log names");
  });
  const sessions = createLineBudget(clock, SESSION_LINES, (count) => {
    const reason = `${count} more sessions have begun or ended within a minute`;
    audit.session({ source: webUser(""), address: null, change: "log_on", reason });
    log.info({ count }, "more web sessions began or ended than the log names");
  });

  function report(name: string, origin: { readonly address?: string }, why: string): void {
    const request = { source: webUser(name), requestId: null, operation: "log_on", robotId: null, origin };
    audit.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", why));
  }

  return {
    failed(name, address, why) {
      const user = reports.nameOf(name);
      if (user === null) return;
      report(user, { address }, why);
      log.warn({ user, from: address, reason: why }, "a web log-in failed");
    },
    began({ name }, address) {
      if (!sessions.take()) return;
      audit.session({ source: webUser(name), address, change: "log_on", reason: null });
      log.info({ user: name, from: address }, "a web user has logged in");
    },
    ended({ name }, reason) {
      if (!sessions.take()) return;
      audit.session({ source: webUser(name), address: null, change: "log_off", reason });
      log.info({ user: name, reason }, "a web session has ended");
    },
  };
}

function webUser(name: string): Source {
  return { protocol: "web", name };
}
