import { nodeName } from "./node-name.ts";
import type { OpcUaOptions } from "./options.ts";
import { createRobotNames } from "./robot-names.ts";

/**
 * The robots and stations that the configuration names, as far as their nodes depend on it. An export has
 * these nodes, and a running gateway has them from its start.
 */
export interface PlantLayout {
  readonly stations: readonly StationLayout[];
  readonly robots: readonly RobotLayout[];
  readonly missionSlots: number;
}

export interface StationLayout {
  /** The name of its node. */
  readonly name: string;
  readonly needsPermit: boolean;
}

export interface RobotLayout {
  /** The name of its node. */
  readonly name: string;
  /** False too while the configuration does not say it: the gateway adds the nodes when it hears of them. */
  readonly isCart: boolean;
  readonly conveyorIndexes: readonly number[];
}

/** What of the options decides on nodes. */
export type LayoutOptions = Pick<OpcUaOptions, "stations" | "robots" | "missionSlots"> & {
  readonly limits: Pick<OpcUaOptions["limits"], "maxRobots">;
};

/** The layout that a gateway of these options has. */
export function layoutOf({ stations, robots, missionSlots, limits }: LayoutOptions): PlantLayout {
  const names = createRobotNames(robots);
  return {
    stations: stations.map(({ name, needsPermit }) => ({ name: nodeName(name), needsPermit })),
    robots: robots.slice(0, limits.maxRobots).map((robot) => ({
      name: names.give(robot),
      isCart: robot.family === "cart" || robot.conveyorIndexes.length > 0,
      conveyorIndexes: [...new Set(robot.conveyorIndexes)],
    })),
    missionSlots,
  };
}
