import { timingSafeEqual } from "node:crypto";
import { digestOf, isPassword, isPasswordHash } from "../../../platform/password.ts";
import type { BrokerUser } from "../options.ts";
import { type Identity, isLoopback } from "./rights.ts";

/** What a login says, and where it comes from. */
export interface Login {
  readonly username: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly remoteAddress: string | undefined;
}

/** Judges logins. */
export interface Logins {
  /** Who a login is; null: nobody. Rejects when too many wait. */
  identify(login: Login): Promise<Identity | null>;
}

/** A hash takes some 50 ms of a core, and who asks for one is not known yet: one at a time, and few wait. */
const MOST_WAITING = 8;

export function createLogins(users: readonly BrokerUser[], anonymousLoopback: boolean): Logins {
  /** Digests of passwords that matched a hash, by user: who comes back does not wait behind others. */
  const proven = new Map<string, Buffer>();
  /** What is being found out, by user and digest: clients of one user often come together. */
  const pending = new Map<string, Promise<boolean>>();
  let last: Promise<unknown> = Promise.resolve();

  const matchesHash = async (user: BrokerUser, password: Uint8Array): Promise<boolean> => {
    const digest = digestOf(password);
    const known = proven.get(user.name);
    if (known !== undefined && timingSafeEqual(known, digest)) return true;
    const key = `${digest.toString("hex")} ${user.name}`;
    const asked = pending.get(key);
    if (asked !== undefined) return asked;
    if (pending.size >= MOST_WAITING) throw new Error("too many clients log in at once");
    const answer = last.then(() => isPassword(user.password, password));
    pending.set(key, answer);
    last = answer.catch(() => {});
    try {
      const isRight = await answer;
      if (isRight) proven.set(user.name, digest);
      return isRight;
    } finally {
      pending.delete(key);
    }
  };

  const matches = (user: BrokerUser, password: Uint8Array): Promise<boolean> =>
    isPasswordHash(user.password) ? matchesHash(user, password) : isPassword(user.password, password);

  return {
    async identify({ username, password, remoteAddress }) {
      const user = users.find((candidate) => candidate.name === username);
      if (user !== undefined)
        return password !== undefined && (await matches(user, password))
          ? { kind: "user", name: user.name }
          : null;
      return anonymousLoopback && isLoopback(remoteAddress) ? { kind: "anonymous" } : null;
    },
  };
}
