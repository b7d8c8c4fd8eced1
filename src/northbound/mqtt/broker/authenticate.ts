import { timingSafeEqual } from "node:crypto";
import { Socket } from "node:net";
import type { AedesOptions, AuthenticateError, Client } from "aedes";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Clock } from "../../../platform/clock.ts";
import { messageOf } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { createLogOnDelays, createLogOnHold, createLogOnReports } from "../../../platform/log-on-delay.ts";
import { createPasswordQueue, digestOf, isPassword, isPasswordHash } from "../../../platform/password.ts";
import { isLoopback } from "../../../platform/url-host.ts";
import type { BrokerUser, EmbeddedBrokerOptions } from "../options.ts";
import type { ClientSockets } from "./client-sockets.ts";
import type { Identity } from "./rights.ts";

/** The inputs for checking a log-in. */
export interface AuthenticateParts {
  readonly options: EmbeddedBrokerOptions;
  /** The gateway's client identifier, refused to every other client. */
  readonly clientId: string;
  /** The gateway's own streams. */
  readonly own: WeakSet<object>;
  readonly sockets: ClientSockets;
  readonly identities: Identities;
  readonly clock: Clock;
  readonly log: Log;
  /** Where failed log-ins are audited. */
  readonly audit: RefusalAudit;
}

/** MQTT 3.1.1, CONNACK: bad user name or password. */
export const BAD_LOG_IN = 4;

/** @param clientOf returns the connected client with an identifier */
export function createAuthenticate(
  parts: AuthenticateParts,
  clientOf: (id: string) => Client | undefined,
): NonNullable<AedesOptions["authenticate"]> {
  const { options, own, sockets, identities, clock, log } = parts;
  const logins = createLogins(options.users.now, options.anonymousLoopback);
  const delays = createLogOnDelays(clock);
  const hold = createLogOnHold(delays, clock);
  const isUser = (name: string) => options.users.now().some((user) => user.name === name);
  const reports = createLogOnReports(clock, isUser, (count) => {
    report("", undefined, `${count} more log-ins have failed within a minute`);
    log.warn({ count }, "more MQTT log-ins failed than the log names");
  });

  function report(name: string, address: string | undefined, reason: string): void {
    const source = { protocol: "mqtt", name } as const;
    const origin = address === undefined ? {} : { address };
    const request = { source, requestId: null, operation: "log_on", robotId: null, origin };
    parts.audit.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", reason));
  }

  function failed(login: Login): void {
    const { count, delayMs } = delays.failed(...whoIs(login));
    const { username = "", remoteAddress: from = "" } = login;
    const user = reports.nameOf(username);
    if (user === null) return;
    report(user, login.remoteAddress, `wrong password, or no such user; failed log-ins in a row: ${count}`);
    log.warn({ user, from, count, delayMs }, "an MQTT log-in failed");
  }

  function belongsToAnother({ id }: Client, identity: Identity): boolean {
    if (identity.kind === "gateway") return false;
    if (id === parts.clientId) return true;
    const holder = clientOf(id);
    return holder !== undefined && nameOf(identities.of(holder)) !== nameOf(identity);
  }

  function admit(client: Client, identity: Identity | null): AuthenticateError | null {
    if (identity === null) return refused(BAD_LOG_IN, "bad user name or password");
    if (belongsToAnother(client, identity))
      return refused(2, "the client identifier belongs to another client");
    if (client.conn instanceof Socket && !sockets.limits.loggedIn(client.conn, nameOf(identity)))
      return refused(3, "too many clients are connected");
    identities.set(client, identity);
    return null;
  }

  async function verify(client: Client, login: Login): Promise<AuthenticateError | null> {
    const identity = await logins.identify(login);
    // The client may have left meanwhile: its place would never be given back.
    if (client.conn.destroyed) return refused(3, "the client has left");
    if (identity === null) failed(login);
    else delays.succeeded(...whoIs(login));
    return admit(client, identity);
  }

  return (client, username, password, done) => {
    const answer = (error: AuthenticateError | null) => done(error, error === null);
    if (own.has(client.conn)) return answer(admit(client, { kind: "gateway" }));
    const login = { username, password, remoteAddress: addressOf(client) };
    hold.pass(
      { who: whoIs(login), isThere: () => !client.conn.destroyed },
      () => void verify(client, login).then(answer, (error) => answer(refused(3, messageOf(error)))),
      () => answer(refused(3, "the log-ins before it have failed: try again later")),
    );
  };
}

/** A client identifier does not count, because it is free to choose. */
function whoIs({ username, remoteAddress }: Login): readonly string[] {
  return [username ?? "", remoteAddress ?? ""];
}

function refused(returnCode: 2 | 3 | 4, message: string): AuthenticateError {
  return Object.assign(new Error(message), { returnCode });
}

function addressOf(client: Client): string | undefined {
  return "remoteAddress" in client.conn ? client.conn.remoteAddress : undefined;
}

/** The credentials of a login, and its address. */
interface Login {
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** Checks logins. */
export interface Logins {
  /** The identity of a login; null: it is wrong. Rejects if too many wait. */
  identify(login: Login): Promise<Identity | null>;
}

/** What a password is compared with. */
interface Claim {
  readonly name: string;
  /** The user's password as it is kept; null: there is no such user, and it is compared all the same. */
  readonly kept: string | null;
}

function keyOf({ name, kept }: Claim): string {
  return JSON.stringify([name, kept]);
}

/** @param users returns the present users */
export function createLogins(users: () => readonly BrokerUser[], anonymousLoopback: boolean): Logins {
  const find = (name: string | undefined) => users().find((candidate) => candidate.name === name);
  /** Digests of passwords that matched, by what was kept: who comes back does not wait behind others. */
  const proven = new Map<string, Buffer>();
  /** Checks under way, by user and digest: clients of one user often come together. */
  const pending = new Map<string, Promise<boolean>>();
  const queue = createPasswordQueue();

  const compare = async ({ name, kept }: Claim, password: Uint8Array, address: string) => {
    const whose = { address, user: kept === null ? null : name, isThere: () => true };
    const answer = await queue.take(whose, () => isPassword(kept, password));
    if (answer === "busy") throw new Error("too many clients log in at once");
    return answer;
  };

  const matches = async (claim: Claim, password: Uint8Array, address: string): Promise<boolean> => {
    const digest = digestOf(password);
    const { kept } = claim;
    const isPlain = kept !== null && !isPasswordHash(kept);
    // A client that knows the right one learns nothing from a short answer.
    const known = isPlain ? digestOf(kept) : proven.get(keyOf(claim));
    if (known !== undefined && timingSafeEqual(known, digest)) return true;
    const key = `${digest.toString("hex")} ${keyOf(claim)}`;
    const asked = pending.get(key);
    if (asked !== undefined) return asked;
    const answer = compare(claim, password, address);
    pending.set(key, answer);
    try {
      const isRight = await answer;
      if (isRight) keepProof(claim, digest);
      return isRight;
    } finally {
      pending.delete(key);
    }
  };

  /** Those of users that are gone are forgotten. */
  function keepProof(claim: Claim, digest: Buffer): void {
    const kept = new Set(users().map(({ name, password }) => keyOf({ name, kept: password })));
    for (const key of proven.keys()) if (!kept.has(key)) proven.delete(key);
    proven.set(keyOf(claim), digest);
  }

  return {
    async identify({ username, password, remoteAddress }) {
      const user = find(username);
      if (user === undefined && anonymousLoopback && isLoopback(remoteAddress ?? ""))
        return { kind: "anonymous" };
      if (password === undefined || password.length === 0) return null;
      const claim = { name: username ?? "", kept: user?.password ?? null };
      const isRight = await matches(claim, password, remoteAddress ?? "");
      // A reload may have taken the user, or its password, meanwhile.
      return isRight && find(username)?.password === claim.kept ? { kind: "user", name: claim.name } : null;
    },
  };
}

/** The identities of the embedded broker's connections. */
export interface Identities {
  /** A client that has not logged in has no rights, like no client (null). */
  of(client: Client | null): Identity;
  set(client: Client, identity: Identity): void;
  /** Takes all rights from the connections of a user, and ends them. Returns how many there were. */
  end(user: string): number;
}

/** A client that has not logged in, or whose user is gone. */
export const nobody: Identity = { kind: "user", name: "" };

export function createIdentities(): Identities {
  // Kept after the connection, because a last will is checked when its connection is gone.
  const identities = new WeakMap<Client, Identity>();
  const open = new Set<Client>();
  return {
    of: (client) => (client === null ? nobody : (identities.get(client) ?? nobody)),
    set(client, identity) {
      identities.set(client, identity);
      open.add(client);
      client.conn.once("close", () => open.delete(client));
    },
    end(user) {
      const ended = [...open].filter((client) => {
        const identity = identities.get(client);
        return identity?.kind === "user" && identity.name === user;
      });
      for (const client of ended) {
        identities.delete(client);
        client.conn.destroy();
      }
      return ended.length;
    },
  };
}

/** The name of an identity, in log lines and for the bounds. */
export function nameOf(identity: Identity): string {
  return identity.kind === "user" ? `user ${identity.name}` : identity.kind;
}
