import { createHash } from "node:crypto";
import { BoundedMap } from "./bounded-map.ts";
import type { Clock } from "./clock.ts";
import { createLineBudget } from "./log-bounds.ts";

/**
 * Makes guessing passwords slow. No user is locked out: a delay ends, and holds for one user at one address.
 */
export interface LogOnDelays {
  /** How long the next attempt must wait, in milliseconds. */
  waitMs(...who: readonly string[]): number;
  /** An attempt has failed. Returns how many have failed in a row, and how long the next one waits. */
  failed(...who: readonly string[]): { readonly count: number; readonly delayMs: number };
  succeeded(...who: readonly string[]): void;
}

const FIRST_MS = 500;
/** The longest wait of a log-on: less than clients and servers wait for the answer. */
const LONGEST_MS = 4_000;
/** The count of a user who mistypes now and then begins anew after this time. */
const FORGOTTEN_AFTER_MS = 600_000;
/** Of all users and addresses; the oldest entry is evicted. */
const MOST = 1_000;

/** A log-on attempt that waits. */
export interface WaitingLogOn {
  /** A user at one address, as in `LogOnDelays`. */
  readonly who: readonly string[];
  /** Whether the client is still connected. */
  isThere(): boolean;
}

/** Lets log-ons pass when their delay is over. */
export interface LogOnHold {
  /** Calls `attempt` at once, or when the delay is over; calls `refuse` if too many of the same user wait. */
  pass(waiting: WaitingLogOn, attempt: () => void, refuse: () => void): void;
}

/**
 * How many attempts of a user at one address wait at a time. Each waits by itself, so a right password is
 * compared beside wrong ones. With `LONGEST_MS` this bounds the guesses to eight a second
 * (docs/internals/decisions.md, A failed log-on delays the next ones of the same user and client).
 */
const MOST_HELD = 32;

export function createLogOnHold(delays: LogOnDelays, clock: Clock): LogOnHold {
  /** How many attempts wait. */
  const held = new Map<string, number>();
  return {
    pass({ who, isThere }, attempt, refuse) {
      const waitMs = delays.waitMs(...who);
      if (waitMs === 0) return attempt();
      const key = keyOf(who);
      const others = held.get(key) ?? 0;
      if (others >= MOST_HELD) return refuse();
      held.set(key, others + 1);
      clock.after(waitMs, () => {
        const left = (held.get(key) ?? 1) - 1;
        if (left === 0) held.delete(key);
        else held.set(key, left);
        if (isThere()) attempt();
      });
    },
  };
}

export function createLogOnDelays(clock: Clock): LogOnDelays {
  const failures = new BoundedMap<string, { readonly count: number; readonly atMs: number }>(MOST);

  const delayOf = (count: number) => Math.min(FIRST_MS * 2 ** Math.min(count - 1, 10), LONGEST_MS);

  function recent(key: string): { readonly count: number; readonly atMs: number } | undefined {
    const known = failures.get(key);
    return known === undefined || clock.monotonicMs() - known.atMs > FORGOTTEN_AFTER_MS ? undefined : known;
  }

  return {
    waitMs(...who) {
      const known = recent(keyOf(who));
      return known === undefined ? 0 : Math.max(0, known.atMs + delayOf(known.count) - clock.monotonicMs());
    },
    failed(...who) {
      const key = keyOf(who);
      const count = (recent(key)?.count ?? 0) + 1;
      failures.set(key, { count, atMs: clock.monotonicMs() });
      return { count, delayMs: delayOf(count) };
    },
    succeeded: (...who) => void failures.delete(keyOf(who)),
  };
}

/** A hash: a key has one length, however long the name is. */
function keyOf(who: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(who)).digest("base64");
}

/** Decides which failed log-ons are reported, so that the log and the audit log stay bounded. */
export interface LogOnReports {
  /**
   * The name under which a failed log-on is reported; null: it is not, and is counted. A name that no user
   * has may be a password in the wrong field: nobody gets to read it.
   */
  nameOf(name: string): string | null;
}

const UNKNOWN_NAME = "(unknown name)";

const WINDOW_MS = 60_000;
/** Names of no user are free to invent. */
const MOST_OF_UNKNOWN = 10;
/** The delays bound the failures of users already, for each address. */
const MOST_OF_USERS = 60;

/**
 * Unknown names and users have a bound each, so that a flood of invented names hides no attempt on a user.
 *
 * @param isUser whether the configuration has the name
 * @param onLeftOut is called after a minute, with the number of failures that were not reported
 */
export function createLogOnReports(
  clock: Pick<Clock, "after">,
  isUser: (name: string) => boolean,
  onLeftOut: (count: number) => void,
): LogOnReports {
  const budgetOf = (most: number) => createLineBudget(clock, { most, windowMs: WINDOW_MS }, onLeftOut);
  const [ofUsers, ofUnknown] = [budgetOf(MOST_OF_USERS), budgetOf(MOST_OF_UNKNOWN)];
  return {
    nameOf(name) {
      if (isUser(name)) return ofUsers.take() ? name : null;
      if (!ofUnknown.take()) return null;
      return name === "" ? "" : UNKNOWN_NAME;
    },
  };
}
