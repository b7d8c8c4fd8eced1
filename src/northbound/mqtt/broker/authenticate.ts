import { Socket } from "node:net";
import type { AedesOptions, AuthenticateError, Client } from "aedes";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { clip } from "../../../domain/clip.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Clock } from "../../../platform/clock.ts";
import { messageOf } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { createLogOnDelays, createLogOnHold } from "../../../platform/log-on-delay.ts";
import { createLogOnReports } from "../../../platform/log-on-reports.ts";
import type { EmbeddedBrokerOptions } from "../options.ts";
import type { ClientSockets } from "./client-sockets.ts";
import { type Identities, nameOf } from "./identities.ts";
import { createLogins, type Login } from "./logins.ts";
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
/** Of a user name from a client, in a log. */
const LONGEST_NAME = 64;

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
    report({ username: "" }, `${count} more log-ins have failed within a minute`);
    log.warn({ count }, "more MQTT log-ins failed than the log names");
  });

  function report({ username = "", remoteAddress }: Partial<Login>, reason: string): void {
    const source = { protocol: "mqtt", name: clip(username, LONGEST_NAME) } as const;
    const origin = remoteAddress === undefined ? {} : { address: remoteAddress };
    const request = { source, requestId: null, operation: "log_on", robotId: null, origin };
    parts.audit.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", reason));
  }

  function failed(login: Login): void {
    const { count, delayMs } = delays.failed(...whoIs(login));
    const { username = "", remoteAddress: from = "" } = login;
    if (!reports.isDue(username)) return;
    report(login, `wrong password, or no such user; failed log-ins in a row: ${count}`);
    log.warn({ user: clip(username, LONGEST_NAME), from, count, delayMs }, "an MQTT log-in failed");
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
