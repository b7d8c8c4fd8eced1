import type { StateChange } from "../domain/change.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { MissionQueue } from "../domain/mission.ts";
import type { Observed } from "../domain/observed.ts";
import type { Presence } from "../domain/presence.ts";
import { type Quality, qualities } from "../domain/quality.ts";
import type { RobotId } from "../domain/robot.ts";
import type { StationRobot } from "../domain/station-sight.ts";

/** The last values of each robot, for stations. */
export interface StationRobots {
  /** Applies changes. Returns the robots that they concern. */
  see(changes: readonly StateChange[]): readonly StationRobot[];
  of(robotId: RobotId): StationRobot | undefined;
  all(): readonly StationRobot[];
  /** The best quality of all robots. */
  best(): Quality;
}

/** The last values of a robot. */
interface Seen {
  quality: Quality;
  missions: Observed<MissionQueue> | undefined;
  presence: Observed<Presence> | undefined;
  readonly conveyors: Map<number, Observed<Conveyor>>;
}

export function createStationRobots(): StationRobots {
  const robots = new Map<RobotId, Seen>();
  const of = (robotId: RobotId): StationRobot | undefined => {
    const seen = robots.get(robotId);
    return seen && { ...seen, robotId, conveyors: [...seen.conveyors.values()] };
  };
  const known = (ids: Iterable<RobotId>) => Array.from(ids, of).filter((robot) => robot !== undefined);
  return {
    see: (changes) => known(note(robots, changes)),
    of,
    all: () => known(robots.keys()),
    best: () => bestOf(robots),
  };
}

/** Applies changes to what stations use. Returns the robots that they concern. */
function note(robots: Map<RobotId, Seen>, changes: readonly StateChange[]): ReadonlySet<RobotId> {
  const touched = new Set<RobotId>();
  for (const change of changes) {
    switch (change.kind) {
      case "robot":
        seenOf(robots, change.robotId).quality = change.quality;
        break;
      case "mission":
        seenOf(robots, change.robotId).missions = change.observed;
        break;
      case "presence":
        seenOf(robots, change.robotId).presence = change.observed;
        break;
      case "conveyor":
        seenOf(robots, change.robotId).conveyors.set(change.observed.value.index, change.observed);
        break;
      default:
        continue;
    }
    touched.add(change.robotId);
  }
  return touched;
}

function seenOf(robots: Map<RobotId, Seen>, robotId: RobotId): Seen {
  let seen = robots.get(robotId);
  if (seen === undefined) {
    seen = { quality: "unknown", missions: undefined, presence: undefined, conveyors: new Map() };
    robots.set(robotId, seen);
  }
  return seen;
}

/** The best quality of all robots. */
function bestOf(robots: ReadonlyMap<RobotId, Seen>): Quality {
  let best = qualities.length - 1;
  for (const { quality } of robots.values()) {
    best = Math.min(best, qualities.indexOf(quality));
    if (best === 0) break;
  }
  return qualities[best] ?? "unknown";
}
