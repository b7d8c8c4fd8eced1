import type { Client } from "aedes";
import type { Identity } from "./rights.ts";

/** The identities of the embedded broker's connections. */
export interface Identities {
  /** A client that has not logged in has no rights, like no client (null). */
  of(client: Client | null): Identity;
  set(client: Client, identity: Identity): void;
  /** Takes all rights from the connections of a user, and ends them. Returns how many there were. */
  end(user: string): number;
}

const nobody: Identity = { kind: "user", name: "" };

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
