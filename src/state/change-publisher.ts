import type { StateChange } from "../domain/change.ts";
import type { Draft } from "./draft.ts";
import type { QualityReader } from "./quality-reader.ts";
import { type CachedValue, describeCached, type RobotEntry } from "./robot-entry.ts";

/**
 * Turns values into changes, and remembers the published quality, so that it is published again only if it
 * differs.
 */
export interface ChangePublisher {
  /** A message came: publishes its value in any case, and its robot if the robot's quality has changed. */
  publishValue(robot: RobotEntry, cached: CachedValue, nowMs: number, draft: Draft): void;
  /** Publishes the robot itself, also if nothing has changed. */
  publishRobot(robot: RobotEntry, nowMs: number, draft: Draft): void;
  /** Publishes this value and its robot if their quality has changed. */
  republishValue(robot: RobotEntry, cached: CachedValue, nowMs: number, draft: Draft): void;
  /** Publishes every value of a robot whose quality has changed. */
  republishRobot(robot: RobotEntry, nowMs: number, draft: Draft): void;
}

export function createChangePublisher(reader: QualityReader): ChangePublisher {
  function republishCached(robot: RobotEntry, cached: CachedValue, nowMs: number, draft: Draft): void {
    const quality = reader.ofCached(robot, cached, nowMs);
    if (quality === cached.published) return;
    cached.published = quality;
    describeCached(robot.robotId, cached, quality, draft.changes);
  }

  function publishRobot(robot: RobotEntry, nowMs: number, draft: Draft): void {
    const quality = reader.ofRobot(robot, nowMs);
    robot.published = quality;
    draft.changes.push(robotChange(robot, quality));
  }

  function republishOwn(robot: RobotEntry, nowMs: number, draft: Draft): void {
    if (reader.ofRobot(robot, nowMs) !== robot.published) publishRobot(robot, nowMs, draft);
  }

  return {
    publishValue(robot, cached, nowMs, draft) {
      const before = cached.published;
      const quality = reader.ofCached(robot, cached, nowMs);
      cached.published = quality;
      describeCached(robot.robotId, cached, quality, draft.changes);
      if (quality !== before) republishOwn(robot, nowMs, draft);
    },
    publishRobot,
    republishValue(robot, cached, nowMs, draft) {
      republishCached(robot, cached, nowMs, draft);
      republishOwn(robot, nowMs, draft);
    },
    republishRobot(robot, nowMs, draft) {
      republishCached(robot, robot.mission, nowMs, draft);
      republishCached(robot, robot.battery, nowMs, draft);
      republishCached(robot, robot.conveyors, nowMs, draft);
      republishCached(robot, robot.presence, nowMs, draft);
      republishOwn(robot, nowMs, draft);
    },
  };
}

/** The change of a robot itself. */
export function robotChange(robot: RobotEntry, quality: RobotEntry["published"]): StateChange {
  return { kind: "robot", robotId: robot.robotId, family: robot.family, quality };
}
