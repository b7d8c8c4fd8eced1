import { createHash, timingSafeEqual } from "node:crypto";
import type { BrokerUser } from "../options.ts";
import type { Topics } from "../topics.ts";

/** Who a connection to the embedded broker is. */
export type Identity =
  /** The gateway itself, known by its stream: no password could be stolen. */
  | { readonly kind: "gateway" }
  | { readonly kind: "user"; readonly name: string }
  /** INSECURE, a demo on loopback: any client name. */
  | { readonly kind: "anonymous" };

/** What a login says, and where it comes from. */
export interface Login {
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** Who a login is, or null where it is nobody. */
export function identify(
  login: Login,
  users: readonly BrokerUser[],
  anonymousLoopback: boolean,
): Identity | null {
  const user = users.find((candidate) => candidate.name === login.username);
  if (user !== undefined)
    return login.password !== undefined && same(login.password, user.password)
      ? { kind: "user", name: user.name }
      : null;
  return anonymousLoopback && isLoopback(login.remoteAddress) ? { kind: "anonymous" } : null;
}

/**
 * A client publishes only what the gateway hears, and only in its own name; the gateway writes everywhere.
 */
export function mayPublish(identity: Identity, topic: string, topics: Topics): boolean {
  if (topic.startsWith("$")) return false;
  if (identity.kind === "gateway") return true;
  const heard = topics.readCommand(topic) ?? topics.readStation(topic) ?? topics.readHold(topic);
  if (heard === null) return false;
  return identity.kind === "anonymous" || heard.client === identity.name;
}

/** Everybody reads the fleet; answers and commands are read by the client that they belong to. */
export function mayRead(identity: Identity, topic: string, topics: Topics): boolean {
  if (identity.kind === "gateway") return true;
  if (topic.startsWith("$")) return false;
  const owner = topics.ownerOf(topic);
  return owner === null || identity.kind === "anonymous" || owner === identity.name;
}

/** Names that no topic level can carry: such a user could never send a command. */
export function unusableName(name: string): boolean {
  return name === "" || /[/#+\p{Cc}\p{Surrogate}]/u.test(name);
}

/** Whether an address is of this machine, as Node writes addresses. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
}

/**
 * Digests have one length, so that neither the length nor the content of a password shows in the time taken.
 */
function same(given: Uint8Array, wanted: string): boolean {
  const digest = (data: Uint8Array | string) => createHash("sha256").update(data).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
