import type { FleetEvent } from "../../../domain/event.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { RobotKey } from "./robot-facts.ts";

/** The changes since they were last taken. */
export interface FloorChanges {
  readonly robots: Map<RobotId, Set<RobotKey>>;
  readonly stations: Set<string>;
  readonly stationsRemoved: Set<string>;
  readonly maps: Set<number>;
  alarms: boolean;
  hold: boolean;
  /** In order. */
  readonly events: FleetEvent[];
}

/** Collects changes until they are taken. */
export interface ChangeCollector {
  readonly now: FloorChanges;
  touch(robotId: RobotId, keys: Iterable<RobotKey>): void;
  take(): FloorChanges;
}

export function createChangeCollector(): ChangeCollector {
  let now = noNews();
  return {
    get now() {
      return now;
    },
    touch(robotId, keys) {
      const touched = now.robots.get(robotId) ?? new Set();
      for (const key of keys) touched.add(key);
      now.robots.set(robotId, touched);
    },
    take() {
      const taken = now;
      now = noNews();
      return taken;
    },
  };
}

function noNews(): FloorChanges {
  return {
    robots: new Map(),
    stations: new Set(),
    stationsRemoved: new Set(),
    maps: new Set(),
    alarms: false,
    hold: false,
    events: [],
  };
}
