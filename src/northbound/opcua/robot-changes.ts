import type { RobotId } from "../../domain/robot.ts";
import type { KnownRobot } from "./options.ts";

/** The robots that have nodes. */
export interface ListedRobots {
  /** The robot as its nodes were made; undefined: it has none. */
  listed(robotId: RobotId): KnownRobot | undefined;
  /** Whether the nodes of a robot have this name. */
  isNamed(name: string): boolean;
  /** How many more robots can have nodes. */
  room(): number;
}

/** Why a robot cannot be as another configuration describes it. */
export interface RobotRefusal {
  readonly robotId: RobotId;
  /** The key; null: the robot as a whole. */
  readonly key: DescribedKey | null;
  readonly reason: string;
}

type DescribedKey = "alias" | "number" | "conveyors";

/**
 * Why robots cannot become those of another configuration while clients are connected: existing nodes keep
 * their names, and none is made anew.
 *
 * @param isKnown whether something was received of a robot: MQTT may have published it under its id
 */
export function robotRefusals(
  next: readonly KnownRobot[],
  { listed, isNamed, room }: ListedRobots,
  isKnown: (robotId: RobotId) => boolean,
): readonly RobotRefusal[] {
  const added = next.filter(({ robotId }) => listed(robotId) === undefined);
  const isTaken = (name: string) => isNamed(name) || (listed(name) === undefined && isKnown(name));
  return [
    ...next.flatMap((robot) => {
      const { robotId } = robot;
      const known = listed(robotId) ?? (isKnown(robotId) ? undescribed : null);
      if (known === null) return [];
      return changedKeys(robot, known).map((key) => ({ robotId, key, reason: HAS_NODES }));
    }),
    ...added.flatMap(({ robotId, alias }) =>
      alias !== null && isTaken(alias) ? [{ robotId, key: "alias", reason: nameTaken(alias) } as const] : [],
    ),
    ...added.slice(Math.max(0, room())).map(({ robotId }) => ({ robotId, key: null, reason: NO_ROOM })),
  ];
}

const HAS_NODES = "restart to change it: the robot has its nodes already";
const NO_ROOM = "restart to add it: as many robots have nodes as opcua.limits.maxRobots allows";

type Described = Pick<KnownRobot, "alias" | "number" | "conveyorIndexes">;

/** A robot that no configuration describes. */
const undescribed: Described = { alias: null, number: null, conveyorIndexes: [] };

function changedKeys(robot: Described, known: Described): readonly DescribedKey[] {
  const areAllThere = robot.conveyorIndexes.every((index) => known.conveyorIndexes.includes(index));
  return [
    ...(robot.alias === known.alias ? [] : (["alias"] as const)),
    ...(robot.number === known.number ? [] : (["number"] as const)),
    ...(areAllThere ? [] : (["conveyors"] as const)),
  ];
}

function nameTaken(alias: string): string {
  return `restart to change it: the robot with the id ${alias} has its nodes under this name`;
}
