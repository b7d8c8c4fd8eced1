import { randomBytes } from "node:crypto";
import { isPassword, isPasswordHash } from "../../../platform/password.ts";
import type { WebUser } from "../options.ts";

/** Compares passwords. Each comparison takes a core some 50 ms, so their number is bounded. */
export interface PasswordCheck {
  /**
   * Whether a password is the user's; undefined: a user that there is not, which takes the same time. `busy`
   * if too many comparisons wait, of all addresses or of this one.
   */
  check(user: WebUser | undefined, password: string, address: string): Promise<boolean | "busy">;
}

const AT_ONCE = 2;
/** With those under way. */
const MOST = 10;
/** Of one address: one client must not keep out all others. */
const MOST_OF_ADDRESS = 4;
const decoy = `scrypt:${randomBytes(16).toString("base64")}:${randomBytes(64).toString("base64")}`;

export function createPasswordCheck(): PasswordCheck {
  /** The address of each comparison that waits or is under way. */
  const addresses: string[] = [];
  const waiting: (() => void)[] = [];
  let underWay = 0;

  async function turn(): Promise<void> {
    if (underWay >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
  }

  /** The next one takes over the turn. */
  function done(address: string): void {
    addresses.splice(addresses.indexOf(address), 1);
    const next = waiting.shift();
    if (next === undefined) underWay -= 1;
    else next();
  }

  return {
    async check(user, password, address) {
      const own = addresses.filter((each) => each === address).length;
      if (addresses.length >= MOST || own >= MOST_OF_ADDRESS) return "busy";
      addresses.push(address);
      await turn();
      try {
        return await isRight(user, password);
      } finally {
        done(address);
      }
    },
  };
}

/** One hash is computed in every case: the time shows neither the user nor how its password is kept. */
async function isRight(user: WebUser | undefined, password: string): Promise<boolean> {
  const kept = user?.password ?? decoy;
  if (isPasswordHash(kept)) return (await isPassword(kept, password)) && user !== undefined;
  await isPassword(decoy, password);
  return isPassword(kept, password);
}
