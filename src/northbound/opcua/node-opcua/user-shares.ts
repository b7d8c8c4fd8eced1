import type { Role } from "../../../domain/command.ts";
import type { OpcUaOptions, OpcUaUser } from "../options.ts";
import { ANONYMOUS } from "../security.ts";

const READER: Role = "observer";

/** The number of a resource in all, and for each kind of user. */
export interface Capacity {
  readonly total: number;
  readonly perUser: number;
  /** The own share of each user who commands. */
  readonly ofCommander: number;
  /** The own share of each user who only reads. */
  readonly ofReader: number;
}

/** Shares a resource among users. */
export interface UserShares {
  /** Whether `user` may have one more, or so many more, while these are taken (by user). */
  hasRoom(user: string, taken: ReadonlyMap<string, number>, more?: number): boolean;
  /** How many more `user` may have. */
  roomOf(user: string, taken: ReadonlyMap<string, number>): number;
}

/**
 * Each user has a few of its own, users who command more than those who read; the rest is for all, up to a
 * bound for each. So one user never takes what another needs to begin.
 */
export function shareAmongUsers(
  options: Pick<OpcUaOptions, "users" | "insecureLoopback">,
  capacity: Capacity,
): UserShares {
  const { total, perUser } = capacity;
  const shares = options.users.pick((users) =>
    ownShares([...users, ...anonymous(options.insecureLoopback)], capacity),
  );
  function roomOf(user: string, taken: ReadonlyMap<string, number>): number {
    const own = shares.now();
    const mine = taken.get(user) ?? 0;
    let used = 0;
    for (const count of taken.values()) used += count;
    for (const [name, count] of own) used += name === user ? 0 : Math.max(0, count - (taken.get(name) ?? 0));
    return Math.max(0, (own.get(user) ?? 0) - mine, Math.min(perUser - mine, total - used));
  }

  return { roomOf, hasRoom: (user, taken, more = 1) => more <= roomOf(user, taken) };
}

/** The own share of each user. */
function ownShares(
  everybody: readonly Pick<OpcUaUser, "name" | "role">[],
  { total, ofCommander, ofReader }: Capacity,
): ReadonlyMap<string, number> {
  const commanders = everybody.filter(({ role }) => role !== READER).length;
  const readers = everybody.length - commanders;
  // All own shares together leave a quarter for all.
  const forCommander = Math.min(ofCommander, Math.floor(total / 2 / Math.max(1, commanders)));
  const forReader = Math.min(ofReader, Math.floor(total / 4 / Math.max(1, readers)));
  return new Map(everybody.map(({ name, role }) => [name, role === READER ? forReader : forCommander]));
}

function anonymous(insecureLoopback: OpcUaOptions["insecureLoopback"]) {
  return insecureLoopback === null ? [] : [{ name: ANONYMOUS, role: insecureLoopback.role }];
}
