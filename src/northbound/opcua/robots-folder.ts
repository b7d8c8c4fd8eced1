import { StatusCodes, type UAObject } from "node-opcua";
import type { RobotId } from "../../domain/robot.ts";
import type { RobotCounts } from "./fleet-space.ts";
import { robotsTags, robotsType } from "./model/robot.ts";
import type { Folder, NodeBuilder } from "./node-builder.ts";

/** How many robots one event names. */
const MOST_TOLD = 100;

/** The folder `Robots`. */
export interface RobotsFolder {
  /** Adds the empty folder of a robot. */
  list(name: string, robotId: RobotId): void;
  /** The folder of a robot that was listed. */
  find(name: string): Folder;
  /** The folder of a robot, for events of it; undefined: it is not listed. */
  notifier(robotId: RobotId): UAObject | undefined;
  /** Shows how many robots are listed, and how many lack nodes. */
  show(counts: Pick<RobotCounts, "listed" | "missing">): void;
}

/**
 * Adds `Robots` with its `NodeVersion`, which changes when robots are added (OPC UA part 3, 5.5.1), and
 * `NodesMissing`.
 *
 * @param run unique for each run, so that no two lists have the same version
 */
export function addRobotsFolder(builder: NodeBuilder, run: string): RobotsFolder {
  const robots = builder.root("Robots", robotsType);
  builder.addNotifier(robots, null);
  const { NodeVersion: version, NodesMissing: nodesMissing } = builder.tags(robots, robotsTags);
  /** Of robots whose nodes are missing. */
  const folders = new Map<string, Folder>();
  const nodes = new Map<RobotId, UAObject>();
  let added: Folder[] = [];

  return {
    list(name, robotId) {
      const folder = builder.folder(robots, name);
      builder.addNotifier(folder, robots);
      folders.set(name, folder);
      nodes.set(robotId, folder.node);
      added.push(folder);
    },
    find(name) {
      const folder = folders.get(name);
      if (folder === undefined) throw new Error(`the robot ${name} is built before it is listed`);
      folders.delete(name);
      return folder;
    },
    notifier: (robotId) => nodes.get(robotId),
    show({ listed, missing }) {
      const news = added;
      added = [];
      const times = builder.timesNow();
      version.set(`${run}.${listed}`, StatusCodes.Good, times);
      nodesMissing.set(missing, StatusCodes.Good, times);
      if (news.length === 0) return;
      // If there are many, a client should browse the folder.
      const notified = news.length <= MOST_TOLD ? news : [];
      builder.changed([
        { node: robots.node, verb: "extended" },
        ...notified.map(({ node }) => ({ node, verb: "added" }) as const),
      ]);
    },
  };
}
