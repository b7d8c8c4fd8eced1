import querystring from "node:querystring";
import { isIdentifier, isIdentifierNumber } from "../../domain/foreign-text.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { Codec } from "../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../platform/stores/write-behind.ts";
import type { KnownRobot } from "./options.ts";

/**
 * A robot that had nodes once, and keeps them: a PLC program must not lose its tags over a restart.
 */
export interface SeenRobot {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly conveyorIndexes: readonly number[];
}

/** Every robot that ever had nodes. */
export interface RobotRegister {
  /** The robots of earlier starts. */
  readonly seen: readonly SeenRobot[];
  /** Keeps new data of a robot. */
  note(robot: SeenRobot): void;
  /** Calls it with robots that another member of a cluster has seen, and this one has not. */
  onSeenElsewhere(listener: (robots: readonly SeenRobot[]) => void): void;
}

export function openRobotRegister(tables: WriteBehind): RobotRegister {
  const { shared = null } = tables;
  const table = tables.table("robots", robotCodec, "begin empty");
  const known = new Map<RobotId, SeenRobot>(table.entries());
  const seen = [...known.values()];
  /** Those of which the leader of a cluster has all. */
  const there = new Set<RobotId>();
  let elsewhere: SeenRobot[] = [];

  /** Whether the robot is new, or something of it. */
  function note(robot: SeenRobot): boolean {
    const { robotId } = robot;
    const before = known.get(robotId);
    const next = merged(before, robot);
    if (next === before) return false;
    known.set(robotId, next);
    there.delete(robotId);
    tables.keep([table.put(robotId, next)]);
    return true;
  }

  function noteElsewhere(value: unknown): void {
    const robot = value === undefined ? null : robotCodec.decode(value);
    if (robot === null) return;
    if (note(robot)) elsewhere.push(robot);
    if (merged(robot, known.get(robot.robotId) ?? robot) === robot) there.add(robot.robotId);
  }

  return {
    seen,
    note,
    onSeenElsewhere(listener) {
      shared?.follow("robots", {
        all(content) {
          for (const value of content.values()) noteElsewhere(value);
        },
        changed: (_robotId, value) => noteElsewhere(value),
        settled() {
          const robots = elsewhere;
          elsewhere = [];
          if (robots.length > 0) listener(robots);
        },
        lead() {
          const missing = [...known].filter(([robotId]) => !there.has(robotId));
          tables.keep(missing.map(([robotId, robot]) => table.put(robotId, robot)));
        },
      });
    },
  };
}

/** The merged data of a robot; `before` itself if `next` has nothing new. */
function merged(before: SeenRobot | undefined, next: SeenRobot): SeenRobot {
  if (before === undefined) return next;
  const family = next.family === "unknown" ? before.family : next.family;
  const added = next.conveyorIndexes.filter((index) => !before.conveyorIndexes.includes(index));
  if (family === before.family && added.length === 0) return before;
  return { ...before, family, conveyorIndexes: [...before.conveyorIndexes, ...added] };
}

/** The robots of the configuration with what was seen of them, then all others that were seen. */
export function knownRobots(
  configured: readonly KnownRobot[],
  seen: readonly SeenRobot[],
): readonly KnownRobot[] {
  const robots = new Map<RobotId, KnownRobot>(configured.map((robot) => [robot.robotId, robot]));
  for (const robot of seen) {
    const named = robots.get(robot.robotId);
    if (named === undefined) robots.set(robot.robotId, { ...robot, alias: null, number: null });
    else {
      const family = named.family === "unknown" ? robot.family : named.family;
      const conveyorIndexes = [...new Set([...named.conveyorIndexes, ...robot.conveyorIndexes])];
      robots.set(robot.robotId, { ...named, family, conveyorIndexes });
    }
  }
  return [...robots.values()];
}

const robotCodec: Codec<SeenRobot> = {
  encode: (robot) => robot,
  decode(json) {
    if (!isJsonObject(json)) return null;
    const { robotId, family, conveyorIndexes } = json;
    if (!isIdentifier(robotId) || !isFamily(family) || !Array.isArray(conveyorIndexes)) return null;
    return conveyorIndexes.every((index) => isIdentifierNumber(index, 0))
      ? { robotId, family, conveyorIndexes }
      : null;
  },
};

function isFamily(value: unknown): value is Family {
  return value === "cart" || value === "serve" || value === "base" || value === "unknown";
}

/** The tags of the folder `Robots` itself: a robot with such an id gets another name. */
const reservedNames = ["NodeVersion", "NodesMissing"] as const;

/** The names of robots' folders. */
export interface RobotNames {
  /** Gives a robot its name. Call it once for each. */
  give(robot: KnownRobot): string;
  /** Reserves the aliases of further robots for them. */
  keepAliases(robots: readonly KnownRobot[]): void;
  /** Whether a robot has this name. */
  isGiven(name: string): boolean;
}

/**
 * An alias belongs to its robot; an id that equals another robot's alias gets the suffix `~id`.
 *
 * @param known the robots whose aliases count from the start
 */
export function createRobotNames(known: readonly KnownRobot[]): RobotNames {
  const aliases = new Set<string>();
  const given = new Set<string>();
  const taken = new Set<string>(reservedNames);

  function keepAliases(robots: readonly KnownRobot[]): void {
    for (const { alias } of robots) if (alias !== null) aliases.add(alias);
  }

  keepAliases(known);
  return {
    give(robot) {
      let name = robot.alias ?? nodeName(robot.robotId);
      if (robot.alias === null && aliases.has(name)) name = `${name}~id`;
      while (taken.has(name)) name = `${name}~`;
      taken.add(name);
      given.add(name);
      return name;
    },
    keepAliases,
    isGiven: (name) => given.has(name),
  };
}

/**
 * A robot id as one step of a string NodeId: percent-encoded, including dots, which separate the steps, and
 * tildes, which mark a name that was taken.
 */
export function nodeName(robotId: RobotId): string {
  return encodeURIComponent(Buffer.from(robotId).toString()).replaceAll(".", "%2E").replaceAll("~", "%7E");
}

/** The robot id of such a step. A text that is no such step gives a name that no robot has. */
export function robotIdOf(step: string): RobotId {
  return querystring.unescape(step);
}
