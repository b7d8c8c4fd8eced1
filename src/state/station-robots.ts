import type { StateChange } from "../domain/change.ts";
import type { MissionQueue } from "../domain/mission.ts";
import { type Observed, type Quality, qualities } from "../domain/observed.ts";
import type { Conveyor, Family, Presence, RobotId } from "../domain/robot.ts";
import type { StationRobot } from "../domain/station-sight.ts";

/** The last values of each robot, for stations. */
export interface StationRobots {
  /** Applies changes. Returns the robots that they concern. */
  see(changes: readonly StateChange[]): ReadonlySet<SeenRobot>;
  of(robotId: RobotId): StationRobot | undefined;
  all(): Iterable<SeenRobot>;
  /** The best quality of all robots. */
  best(): Quality;
}

/** The last values of a robot. The next change replaces them in the same object. */
export interface SeenRobot {
  readonly robotId: RobotId;
  family: Family;
  quality: Quality;
  missions: Observed<MissionQueue> | undefined;
  presence: Observed<Presence> | undefined;
  readonly conveyors: Map<number, Observed<Conveyor>>;
}

export function createStationRobots(): StationRobots {
  const robots = new Map<RobotId, SeenRobot>();
  return {
    see: (changes) => note(robots, changes),
    of(robotId) {
      const seen = robots.get(robotId);
      return seen && stationRobot(seen);
    },
    all: () => robots.values(),
    best: () => bestOf(robots),
  };
}

/** The values of this moment. */
export function stationRobot(seen: SeenRobot): StationRobot {
  return { ...seen, conveyors: [...seen.conveyors.values()] };
}

/** Applies changes to what stations use. Returns the robots that they concern. */
function note(robots: Map<RobotId, SeenRobot>, changes: readonly StateChange[]): ReadonlySet<SeenRobot> {
  const touched = new Set<SeenRobot>();
  const touch = (robotId: RobotId): SeenRobot => {
    const seen = seenOf(robots, robotId);
    touched.add(seen);
    return seen;
  };
  for (const change of changes) {
    switch (change.kind) {
      case "robot":
        Object.assign(touch(change.robotId), { family: change.family, quality: change.quality });
        break;
      case "mission":
        touch(change.robotId).missions = change.observed;
        break;
      case "presence":
        touch(change.robotId).presence = change.observed;
        break;
      case "conveyor":
        touch(change.robotId).conveyors.set(change.observed.value.index, change.observed);
        break;
    }
  }
  return touched;
}

function seenOf(robots: Map<RobotId, SeenRobot>, robotId: RobotId): SeenRobot {
  let seen = robots.get(robotId);
  if (seen === undefined) {
    const nothing = { missions: undefined, presence: undefined, conveyors: new Map() };
    seen = { robotId, family: "unknown", quality: "unknown", ...nothing };
    robots.set(robotId, seen);
  }
  return seen;
}

/** The best quality of all robots. */
function bestOf(robots: ReadonlyMap<RobotId, SeenRobot>): Quality {
  let best = qualities.length - 1;
  for (const { quality } of robots.values()) {
    best = Math.min(best, qualities.indexOf(quality));
    if (best === 0) break;
  }
  return qualities[best] ?? "unknown";
}
