import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { QualityReader } from "./quality-reader.ts";
import { type CachedValue, describeCached, type RobotEntry } from "./robot-entry.ts";

/** A batch while one event is being applied. */
export interface OpenBatch extends Batch {
  readonly changes: StateChange[];
  readonly events: FleetEvent[];
}

export function createOpenBatch(): OpenBatch {
  return { changes: [], events: [] };
}

/**
 * Turns values into changes, and remembers the published quality, so that it is published again only if it
 * differs.
 */
export interface ChangePublisher {
  /** A message came: publishes its value in any case, and its robot if the robot's quality has changed. */
  publishValue(robot: RobotEntry, cached: CachedValue, nowMs: number, batch: OpenBatch): void;
  /** Publishes the robot itself, also if nothing has changed. */
  publishRobot(robot: RobotEntry, nowMs: number, batch: OpenBatch): void;
  /** Publishes this value and its robot if their quality has changed. */
  republishValue(robot: RobotEntry, cached: CachedValue, nowMs: number, batch: OpenBatch): void;
  /** Publishes every value of a robot whose quality has changed. */
  republishRobot(robot: RobotEntry, nowMs: number, batch: OpenBatch): void;
}

export function createChangePublisher(reader: QualityReader): ChangePublisher {
  function republishCached(robot: RobotEntry, cached: CachedValue, nowMs: number, batch: OpenBatch): void {
    const quality = reader.ofCached(robot, cached, nowMs);
    if (quality === cached.published) return;
    cached.published = quality;
    describeCached(robot.robotId, cached, quality, batch.changes);
  }

  function publishRobot(robot: RobotEntry, nowMs: number, batch: OpenBatch): void {
    const quality = reader.ofRobot(robot, nowMs);
    robot.published = quality;
    batch.changes.push(robotChange(robot, quality));
  }

  function republishOwn(robot: RobotEntry, nowMs: number, batch: OpenBatch): void {
    if (reader.ofRobot(robot, nowMs) !== robot.published) publishRobot(robot, nowMs, batch);
  }

  return {
    publishValue(robot, cached, nowMs, batch) {
      const before = cached.published;
      const quality = reader.ofCached(robot, cached, nowMs);
      cached.published = quality;
      describeCached(robot.robotId, cached, quality, batch.changes);
      if (quality !== before) republishOwn(robot, nowMs, batch);
    },
    publishRobot,
    republishValue(robot, cached, nowMs, batch) {
      republishCached(robot, cached, nowMs, batch);
      republishOwn(robot, nowMs, batch);
    },
    republishRobot(robot, nowMs, batch) {
      republishCached(robot, robot.mission, nowMs, batch);
      republishCached(robot, robot.battery, nowMs, batch);
      republishCached(robot, robot.conveyors, nowMs, batch);
      republishCached(robot, robot.presence, nowMs, batch);
      republishOwn(robot, nowMs, batch);
    },
  };
}

/** The change of a robot itself. */
export function robotChange(robot: RobotEntry, quality: RobotEntry["published"]): StateChange {
  return { kind: "robot", robotId: robot.robotId, family: robot.family, quality };
}
