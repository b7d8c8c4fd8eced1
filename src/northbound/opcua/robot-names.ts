import { nodeName } from "./node-name.ts";
import type { KnownRobot } from "./options.ts";

/** The tags of the folder `Robots` itself: a robot whose id is one of them gets another name. */
const reservedNames = ["NodeVersion", "NodesMissing"] as const;

/**
 * Gives each robot the name of its folder. An alias is its robot's own; an id that equals another robot's
 * alias gets `~id` behind it.
 */
export function createRobotNames(known: readonly KnownRobot[]): (robot: KnownRobot) => string {
  const aliases = new Set(known.flatMap((robot) => robot.alias ?? []));
  const names = new Set<string>(reservedNames);
  return (robot) => {
    let name = robot.alias ?? nodeName(robot.robotId);
    if (robot.alias === null && aliases.has(name)) name = `${name}~id`;
    while (names.has(name)) name = `${name}~`;
    names.add(name);
    return name;
  };
}
