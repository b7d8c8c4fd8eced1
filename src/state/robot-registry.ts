import type { Family, RobotId } from "../domain/robot.ts";
import type { Log } from "../platform/log.ts";
import { createRobotEntry, type RobotEntry } from "./robot-entry.ts";

/** The registry of all robots that were seen or expected since the start. */
export interface RobotRegistry {
  find(robotId: RobotId): RobotEntry | undefined;
  /** The robot, added if it is new; undefined: there are too many. */
  findOrAdd(robotId: RobotId, onNew: (robot: RobotEntry) => void): RobotEntry | undefined;
  all(): IterableIterator<RobotEntry>;
  readonly size: number;
  /** How many updates of robots beyond the limit were refused. */
  readonly refusals: number;
}

/**
 * Keeps every robot, because each keeps its tags and topics. New ones beyond `limit` are refused, counted and
 * logged once.
 */
export function createRobotRegistry(limit: number, log: Log): RobotRegistry {
  const robots = new Map<RobotId, RobotEntry>();
  let refusals = 0;

  function refuse(robotId: RobotId): undefined {
    if (refusals === 0) log.error({ robotId, limit }, "more robots than the configuration allows: refused");
    refusals += 1;
  }

  return {
    find: (robotId) => robots.get(robotId),
    findOrAdd(robotId, onNew) {
      const known = robots.get(robotId);
      if (known !== undefined) return known;
      if (robots.size >= limit) return refuse(robotId);
      const robot = createRobotEntry(robotId, UNKNOWN);
      robots.set(robotId, robot);
      onNew(robot);
      return robot;
    },
    all: () => robots.values(),
    get size() {
      return robots.size;
    },
    get refusals() {
      return refusals;
    },
  };
}

const UNKNOWN: Family = "unknown";
