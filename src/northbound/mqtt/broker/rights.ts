import type { Topics } from "../topics.ts";

/** The identity of a connection to the embedded broker. */
export type Identity =
  /** The gateway itself, recognised by its stream: there is no password to be stolen. */
  | { readonly kind: "gateway" }
  | { readonly kind: "user"; readonly name: string }
  /** INSECURE, a demo on loopback: any client name. */
  | { readonly kind: "anonymous" };

/**
 * A client publishes only what the gateway handles, and only under its own name; the gateway writes
 * everywhere.
 */
export function mayPublish(identity: Identity, topic: string, topics: Topics): boolean {
  if (topic.startsWith("$")) return false;
  if (identity.kind === "gateway") return true;
  const received = topics.readCommand(topic);
  if (received === null) return false;
  return identity.kind === "anonymous" || received.client === identity.name;
}

/** Everybody reads the fleet; answers and commands are read only by the client to which they belong. */
export function mayRead(identity: Identity, topic: string, topics: Topics): boolean {
  if (identity.kind === "gateway") return true;
  if (topic.startsWith("$")) return false;
  const owner = topics.ownerOf(topic);
  return owner === null || identity.kind === "anonymous" || owner === identity.name;
}

/** Whether no topic level can carry the name: such a user could never send a command. */
export function unusableName(name: string): boolean {
  return name === "" || /[/#+\p{Cc}\p{Surrogate}]/u.test(name);
}

/** Whether a topic can exist that both filters match. A topic is a filter, too. */
export function filtersMeet(one: string, other: string): boolean {
  const ones = one.split("/");
  const others = other.split("/");
  for (let index = 0; ; index += 1) {
    const level = ones[index];
    const otherLevel = others[index];
    // A filter that ends with # matches the level above it, too (MQTT 3.1.1, 4.7.1.2).
    if (level === "#" || otherLevel === "#") return true;
    if (level === undefined || otherLevel === undefined) return level === otherLevel;
    if (level !== "+" && otherLevel !== "+" && level !== otherLevel) return false;
  }
}
