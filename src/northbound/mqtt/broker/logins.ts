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
      if (user === undefined && anonymousLoopback && isLoopback(remoteAddress)) return { kind: "anonymous" };
      if (password === undefined || password.length === 0) return null;
      const claim = { name: username ?? "", kept: user?.password ?? null };
      const isRight = await matches(claim, password, remoteAddress ?? "");
      // A reload may have taken the user, or its password, meanwhile.
      return isRight && find(username)?.password === claim.kept ? { kind: "user", name: claim.name } : null;
    },
  };
}
