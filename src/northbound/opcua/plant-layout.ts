import type { Now } from "../../platform/live.ts";
import type { OpcUaOptions } from "./options.ts";
import { createRobotNames, nodeName } from "./robot-register.ts";

/**
 * The robots and stations in the configuration, as far as their nodes depend on it. An export has these
 * nodes, and a running gateway has them from its start.
 */
export interface PlantLayout {
  readonly stations: readonly StationLayout[];
  readonly robots: readonly RobotLayout[];
  readonly missionSlots: number;
  /** The gateway is a member of a cluster. */
  readonly isClustered: boolean;
}

export interface StationLayout {
  /** The name of its node. */
  readonly name: string;
  readonly needsPermit: boolean;
}

export interface RobotLayout {
  /** The name of its node. */
  readonly name: string;
  /**
   * False also while the configuration does not say it: the gateway adds the nodes when the robot shows it.
   */
  readonly isCart: boolean;
  readonly conveyorIndexes: readonly number[];
}

/** The options on which nodes depend. */
export type LayoutOptions = Now<
  Pick<OpcUaOptions, "stations" | "robots" | "missionSlots" | "isClustered">
> & {
  readonly limits: Pick<OpcUaOptions["limits"], "maxRobots">;
};

/** The layout of a gateway with these options. */
export function layoutOf({
  stations,
  robots,
  missionSlots,
  isClustered = false,
  limits,
}: LayoutOptions): PlantLayout {
  const names = createRobotNames(robots);
  return {
    stations: stations.map(({ name, needsPermit }) => ({ name: nodeName(name), needsPermit })),
    robots: robots.slice(0, limits.maxRobots).map((robot) => ({
      name: names.give(robot),
      isCart: robot.family === "cart" || robot.conveyorIndexes.length > 0,
      conveyorIndexes: [...new Set(robot.conveyorIndexes)],
    })),
    missionSlots,
    isClustered,
  };
}
