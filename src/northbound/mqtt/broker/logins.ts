import { timingSafeEqual } from "node:crypto";
import { digestOf, isPassword, isPasswordHash } from "../../../platform/password.ts";
import { createPasswordQueue } from "../../../platform/password-queue.ts";
import type { BrokerUser } from "../options.ts";
import { type Identity, isLoopback } from "./rights.ts";

/** The credentials of a login, and its address. */
export interface Login {
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** Checks logins. */
export interface Logins {
  /** The identity of a login; null: it is wrong. Rejects if too many wait. */
  identify(login: Login): Promise<Identity | null>;
}

function proofKey({ name, password }: BrokerUser): string {
  return `${name} ${password}`;
}

/** @param users returns the present users */
export function createLogins(users: () => readonly BrokerUser[], anonymousLoopback: boolean): Logins {
  const find = (name: string | undefined) => users().find((candidate) => candidate.name === name);
  /**
   * Digests of passwords that matched a hash, by that hash: a client that comes back does not wait behind
   * others.
   */
  const proven = new Map<string, Buffer>();
  /** Checks under way, by user and digest: clients of one user often come together. */
  const pending = new Map<string, Promise<boolean>>();
  const queue = createPasswordQueue();

  const matchesHash = async (user: BrokerUser, password: Uint8Array, address: string): Promise<boolean> => {
    const digest = digestOf(password);
    const known = proven.get(proofKey(user));
    if (known !== undefined && timingSafeEqual(known, digest)) return true;
    const key = `${digest.toString("hex")} ${proofKey(user)}`;
    const asked = pending.get(key);
    if (asked !== undefined) return asked;
    const whose = { address, user: user.name, isThere: () => true };
    const answer = queue
      .take(whose, () => isPassword(user.password, password))
      .then((isRight) => {
        if (isRight === "busy") throw new Error("too many clients log in at once");
        return isRight;
      });
    pending.set(key, answer);
    try {
      const isRight = await answer;
      if (isRight) keepProof(user, digest);
      return isRight;
    } finally {
      pending.delete(key);
    }
  };

  const matches = (user: BrokerUser, password: Uint8Array, address: string): Promise<boolean> =>
    isPasswordHash(user.password)
      ? matchesHash(user, password, address)
      : isPassword(user.password, password);

  /** Proofs of users that are gone are dropped. */
  function keepProof(user: BrokerUser, digest: Buffer): void {
    const kept = new Set(users().map(proofKey));
    for (const key of proven.keys()) if (!kept.has(key)) proven.delete(key);
    proven.set(proofKey(user), digest);
  }

  return {
    async identify({ username, password, remoteAddress }) {
      const user = find(username);
      if (user !== undefined) {
        const isRight = password !== undefined && (await matches(user, password, remoteAddress ?? ""));
        // A reload may have removed the user, or changed its password, meanwhile.
        return isRight && find(username)?.password === user.password
          ? { kind: "user", name: user.name }
          : null;
      }
      return anonymousLoopback && isLoopback(remoteAddress) ? { kind: "anonymous" } : null;
    },
  };
}
