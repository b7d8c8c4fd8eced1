import { roles } from "../../domain/command.ts";
import type { OpcUaOptions } from "./options.ts";
import { ANONYMOUS } from "./security.ts";

/** Sessions that a user who commands, and one who reads, has for itself, whatever others do. */
const OWN_OF_COMMANDERS = 4;
const OWN_OF_READERS = 1;

/** How the sessions of a server are shared among users. */
export interface SessionShares {
  /** Whether `user` may have one more, while these are open (by user). */
  hasRoom(user: string, open: ReadonlyMap<string, number>): boolean;
}

/**
 * Each user has a few sessions of its own, those who command more than those who read; the rest is for all, up to a
 * bound for each. So one user never takes what another needs to begin.
 */
export function shareSessions({ users, insecureLoopback, limits }: OpcUaOptions): SessionShares {
  const everybody = [
    ...users,
    ...(insecureLoopback === null ? [] : [{ name: ANONYMOUS, role: insecureLoopback.role }]),
  ];
  const commanders = everybody.filter(({ role }) => role !== roles[0]);
  const readers = everybody.length - commanders.length;
  // All of these together leave a quarter of the sessions for all.
  const ofCommander = Math.min(
    OWN_OF_COMMANDERS,
    Math.floor(limits.maxSessions / 2 / Math.max(1, commanders.length)),
  );
  const ofReader = Math.min(OWN_OF_READERS, Math.floor(limits.maxSessions / 4 / Math.max(1, readers)));
  const own = new Map(
    everybody.map(({ name, role }) => [name, role === roles[0] ? ofReader : ofCommander] as const),
  );

  return {
    hasRoom(user, open) {
      const mine = open.get(user) ?? 0;
      if (mine < (own.get(user) ?? 0)) return true;
      if (mine >= limits.maxSessionsPerUser) return false;
      let taken = 0;
      for (const count of open.values()) taken += count;
      for (const [name, count] of own)
        taken += name === user ? 0 : Math.max(0, count - (open.get(name) ?? 0));
      return taken < limits.maxSessions;
    },
  };
}
