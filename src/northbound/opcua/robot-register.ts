import { isIdentifier, isIdentifierNumber } from "../../domain/identifier.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import { createKeptFile, readNowIfThere } from "../../platform/kept-file.ts";
import { describeError, type Log } from "../../platform/log.ts";
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
  /** Writes new data of a robot, within a second. */
  note(robot: SeenRobot): void;
  /** Writes what is still to be written. Never rejects. */
  close(): Promise<void>;
}

/** The file of the register. */
export interface RobotFile {
  /** The last content of `write`, perhaps edited since. Throws if it cannot be read. */
  read(): unknown;
  /** Replaces all of it or nothing. */
  write(robots: readonly SeenRobot[]): Promise<void>;
}

/** A start shows many robots, one by one; each write has them all. */
const WRITE_AFTER_MS = 1_000;

/**
 * Opens the register. One that cannot be read begins empty, and a failed write is made up with the next news
 * of a robot. Both are logged.
 */
export function openRobotRegister(file: RobotFile, log: Log): RobotRegister {
  const known = new Map(readRobots(file, log).map((robot) => [robot.robotId, robot]));
  const seen = [...known.values()];
  let hasNews = false;
  let isFailing = false;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (!hasNews) return;
    hasNews = false;
    try {
      await file.write([...known.values()]);
      isFailing = false;
    } catch (error) {
      hasNews = true;
      if (!isFailing) log.warn({ cause: describeError(error) }, "robots that are new are not kept");
      isFailing = true;
    }
  }

  function writeNow(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing = writing.then(write);
    return writing;
  }

  return {
    seen,
    note(robot) {
      const before = known.get(robot.robotId);
      const next = merged(before, robot);
      if (next !== before) {
        known.set(robot.robotId, next);
        hasNews = true;
      }
      if (hasNews) timer ??= setTimeout(() => void writeNow(), WRITE_AFTER_MS);
    },
    close: writeNow,
  };
}

/** Keeps the register as one JSON file, which can be copied at any time: a backup has it. */
export function openRobotFile(path: string): RobotFile {
  const file = createKeptFile(path);
  return {
    read: () => JSON.parse(readNowIfThere(path) ?? "[]"),
    write: (robots) => file.write(JSON.stringify(robots)),
  };
}

function readRobots(file: RobotFile, log: Log): readonly SeenRobot[] {
  try {
    const kept = file.read();
    if (!Array.isArray(kept)) throw new Error("it is no list");
    return kept.flatMap((each) => readRobot(each) ?? []);
  } catch (error) {
    log.error(
      { cause: describeError(error) },
      "the register of robots cannot be read: a robot has its nodes when it is seen again",
    );
    return [];
  }
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

/** An invalid entry is left out: its robot has no nodes until it is seen. */
function readRobot(value: unknown): SeenRobot | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("robotId" in value && "family" in value && "conveyorIndexes" in value)) return null;
  const { robotId, family, conveyorIndexes } = value;
  if (!isIdentifier(robotId) || !isFamily(family) || !Array.isArray(conveyorIndexes)) return null;
  return {
    robotId,
    family,
    conveyorIndexes: conveyorIndexes.filter((index) => isIdentifierNumber(index, 0)),
  };
}

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
