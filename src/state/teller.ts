import type { StateChange } from "../domain/change.ts";
import type { Draft } from "./draft.ts";
import type { QualityReader } from "./quality-reader.ts";
import { describeSlot, type RobotEntry, type Slot } from "./robot-entry.ts";

/**
 * Turns values into changes, and remembers the published quality, so that it is published again only if it
 * differs.
 */
export interface Teller {
  /** A message came: publishes its value in any case, and its robot if the robot's quality has changed. */
  tellValue(robot: RobotEntry, slot: Slot, nowMs: number, draft: Draft): void;
  /** Publishes the robot itself, also if nothing has changed. */
  tellRobot(robot: RobotEntry, nowMs: number, draft: Draft): void;
  /** Publishes this value and its robot if their quality has changed. */
  retellValue(robot: RobotEntry, slot: Slot, nowMs: number, draft: Draft): void;
  /** Publishes every value of a robot whose quality has changed. */
  retellRobot(robot: RobotEntry, nowMs: number, draft: Draft): void;
}

export function createTeller(reader: QualityReader): Teller {
  function retellSlot(robot: RobotEntry, slot: Slot, nowMs: number, draft: Draft): void {
    const quality = reader.ofSlot(robot, slot, nowMs);
    if (quality === slot.told) return;
    slot.told = quality;
    describeSlot(robot.robotId, slot, quality, draft.changes);
  }

  function tellRobot(robot: RobotEntry, nowMs: number, draft: Draft): void {
    const quality = reader.ofRobot(robot, nowMs);
    robot.told = quality;
    draft.changes.push(robotChange(robot, quality));
  }

  function retellOwn(robot: RobotEntry, nowMs: number, draft: Draft): void {
    if (reader.ofRobot(robot, nowMs) !== robot.told) tellRobot(robot, nowMs, draft);
  }

  return {
    tellValue(robot, slot, nowMs, draft) {
      const before = slot.told;
      const quality = reader.ofSlot(robot, slot, nowMs);
      slot.told = quality;
      describeSlot(robot.robotId, slot, quality, draft.changes);
      if (quality !== before) retellOwn(robot, nowMs, draft);
    },
    tellRobot,
    retellValue(robot, slot, nowMs, draft) {
      retellSlot(robot, slot, nowMs, draft);
      retellOwn(robot, nowMs, draft);
    },
    retellRobot(robot, nowMs, draft) {
      retellSlot(robot, robot.mission, nowMs, draft);
      retellSlot(robot, robot.battery, nowMs, draft);
      retellSlot(robot, robot.conveyors, nowMs, draft);
      retellSlot(robot, robot.presence, nowMs, draft);
      retellOwn(robot, nowMs, draft);
    },
  };
}

/** The change of a robot itself. */
export function robotChange(robot: RobotEntry, quality: RobotEntry["told"]): StateChange {
  return { kind: "robot", robotId: robot.robotId, family: robot.family, quality };
}
