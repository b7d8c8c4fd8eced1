import type { TagGroup, TagSource, TagView } from "../../contracts/tags.ts";
import { type Stamp, sourceTimeOf } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";
import { FLEET_NAMESPACE_INDEX } from "./fleet-nodeset.ts";
import { VALUE_AS_TEXT } from "./model/properties.ts";
import { dateAt, type Tag, type TagTimes } from "./node-opcua/tag.ts";

/** The registry of the tags of all built nodes. It builds none. */
export interface TagRegistry extends TagSource {
  /**
   * The parent's path, because looking into the tag's own name would copy it: V8 keeps a joined name in
   * parts, and 50 bytes more once it was looked into. Ten tags share the parent's path.
   */
  add(tag: Tag, parentPath: string): void;
  /** Sets the robot of the nodes below this path. */
  nameRobot(path: string, robotId: RobotId): void;
  /** The robot of the nodes below this path; absent: it is no robot's. */
  robotAt(path: string): RobotId | undefined;
  /** The stations that a reload has removed, by the step of their NodeIds that names them. */
  readonly hidden: Set<string>;
  /** The server is gone, with its nodes. */
  clear(): void;
}

/** The tags of one step below `Robots` or `Stations`, or all others. */
interface Group extends TagGroup {
  readonly station: string | null;
  add(tag: Tag): void;
}

const OF_GATEWAY = "";

/** @param missingRobots how many robots have no nodes yet */
export function createTagRegistry(missingRobots: () => number): TagRegistry {
  /** By the steps that name the robot or the station. */
  const groups = new Map<string, Group>();
  const robotIds = new Map<string, RobotId>();
  const hidden = new Set<string>();

  function groupOf(owner: string): Group {
    let group = groups.get(owner);
    if (group === undefined) {
      const [folder, step = ""] = owner.split(".");
      group = createGroup(
        robotIds.get(owner) ?? null,
        folder === "Stations" ? decodeURIComponent(step) : null,
      );
      groups.set(owner, group);
    }
    return group;
  }

  const isHidden = (owner: string) => hidden.has(owner.slice(owner.indexOf(".") + 1));

  return {
    protocol: "opcua",
    prefix: `ns=${FLEET_NAMESPACE_INDEX};s=`,
    hidden,
    missingRobots,
    add: (tag, parentPath) => groupOf(ownerOf(parentPath)).add(tag),
    nameRobot: (path, robotId) => void robotIds.set(path, robotId),
    robotAt: (path) => robotIds.get(path),
    groups: () =>
      [...groups].flatMap(([owner, group]) => (group.station !== null && isHidden(owner) ? [] : [group])),
    subjectOf: ({ name }) => subjectOf(name),
    clear: () => groups.clear(),
  };
}

/** The objects of a robot or a station that have topics too; the other tags are of it as a whole. */
const subjects: Readonly<Record<string, string>> = {
  Mission: "mission",
  Battery: "battery",
  Position: "presence",
  AmrException: "presence",
  TaskChain: "task_chain",
  Counters: "station",
  Alarms: "alarms",
};
const ofHold = /^(Held|HeldBy|Hold|HoldRelease|HoldStored)$/;

/** `battery` for `Robots.cart-1.Battery.State`. */
function subjectOf(name: string): string | null {
  const [folder, , first = "", second = ""] = name.split(".");
  if (folder !== "Robots" && folder !== "Stations") return null;
  if (first === "Conveyors" && folder === "Robots") return `conveyor/${second}`;
  if (second !== "" && second !== VALUE_AS_TEXT) return subjects[first] ?? null;
  return ofHold.test(first) ? "hold" : folder === "Robots" ? "robot" : "station";
}

function createGroup(robotId: RobotId | null, station: string | null): Group {
  const tags: Tag[] = [];
  let isSorted = true;
  return {
    robotId,
    station,
    add(tag) {
      tags.push(tag);
      isSorted = false;
    },
    tags(): readonly TagView[] {
      // In place: another list would take as much memory again.
      if (!isSorted) tags.sort((a, b) => (a.name < b.name ? -1 : 1));
      isSorted = true;
      return tags;
    },
  };
}

/** `Robots.cart-1` for `Robots.cart-1.Battery`; empty for a path of no robot and no station. */
function ownerOf(parentPath: string): string {
  if (!parentPath.startsWith("Robots.") && !parentPath.startsWith("Stations.")) return OF_GATEWAY;
  const end = parentPath.indexOf(".", parentPath.indexOf(".") + 1);
  return end < 0 ? parentPath : parentPath.slice(0, end);
}

/** The range of a DateTime: 1601 to 9999 (OPC UA Part 6, DateTime). */
const EARLIEST_MS = Date.UTC(1601, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * The times of a robot's message. Conveyors have no time of their own, and a robot's clock may be wrong: then
 * it is the gateway's time.
 */
export function tagTimes(stamp: Stamp): TagTimes {
  const server = dateAt(stamp.receivedAtMs);
  const sourceTimeMs = sourceTimeOf(stamp);
  const isTime = sourceTimeMs !== null && sourceTimeMs >= EARLIEST_MS && sourceTimeMs <= LATEST_MS;
  return { source: isTime ? dateAt(sourceTimeMs) : server, server };
}
