import { nodeName } from "./node-name.ts";
import type { KnownRobot } from "./options.ts";

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
