import { changeKey } from "../../domain/change.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { RobotChange } from "./robot-tags.ts";

/** The newest change of each value of one robot, by `changeKey`. */
export type Changes = Map<string, RobotChange>;

/** Changes of at most `maxRobots` robots that come before robots can be listed. */
export interface EarlyChanges {
  apply(change: RobotChange): void;
  /** Removes and returns those of a robot; empty if there are none. */
  take(robotId: RobotId): Changes;
  /** Removes and returns those of all robots. */
  takeAll(): ReadonlyMap<RobotId, Changes>;
}

/** A hold or an alarm alone does not show that the robot exists: the gateway has stored them. */
export function isOwn({ kind }: RobotChange): boolean {
  return kind === "hold" || kind === "robot_alarms";
}

/** @param refuse is called with a robot beyond the limit */
export function createEarlyChanges(maxRobots: number, refuse: (robotId: RobotId) => void): EarlyChanges {
  let early = new Map<RobotId, Changes>();
  return {
    apply(change) {
      let changes = early.get(change.robotId);
      if (changes === undefined) {
        if (isOwn(change)) return;
        if (early.size >= maxRobots) return refuse(change.robotId);
        changes = new Map();
        early.set(change.robotId, changes);
      }
      changes.set(changeKey(change), change);
    },
    take(robotId) {
      const changes = early.get(robotId) ?? new Map();
      early.delete(robotId);
      return changes;
    },
    takeAll() {
      const all = early;
      early = new Map();
      return all;
    },
  };
}
