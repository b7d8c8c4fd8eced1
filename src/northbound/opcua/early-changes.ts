import { changeKey } from "../../domain/change.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { RobotChange } from "./robot-tags.ts";

/** The newest change of each value of one robot, by `changeKey`. */
export type Changes = Map<string, RobotChange>;

/** Changes of robots that are heard of before robots can be listed, of at most `maxRobots`. */
export interface EarlyChanges {
  apply(change: RobotChange): void;
  /** Hands over those of a robot; none when there are none. */
  take(robotId: RobotId): Changes;
  /** Hands over those of all robots. */
  takeAll(): ReadonlyMap<RobotId, Changes>;
}

/** A hold or an alarm alone is no sign that there is such a robot: the gateway has kept them. */
export function isOwn({ kind }: RobotChange): boolean {
  return kind === "hold" || kind === "robot_alarms";
}

/** @param refuse is called with a robot that is one too many */
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
