import { isIdentifier, isIdentifierNumber } from "../../domain/identifier.ts";
import type { Family, RobotId } from "../../domain/robot.ts";
import type { Store } from "../../platform/store.ts";
import type { KnownRobot } from "./options.ts";

/**
 * A robot that had nodes once, and keeps them (design, OPC UA): a PLC program must not lose its tags over a
 * restart.
 */
export interface SeenRobot {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly conveyorIndexes: readonly number[];
}

/** Every robot that was ever shown. */
export interface RobotRegister {
  /** Those of earlier starts. */
  readonly seen: readonly SeenRobot[];
  /** Keeps what is new of a robot. What cannot be kept now is kept with the robot's next news. */
  note(robot: SeenRobot): void;
}

/** Keeps robots in a store, each under `r/<robot id>`. */
export function openRobotRegister(store: Store): RobotRegister {
  const seen = [...store.range({ from: "r/", to: "r0" })].flatMap(({ value }) => readRobot(value) ?? []);
  const known = new Map(seen.map((robot) => [robot.robotId, robot]));
  return {
    seen,
    note(robot) {
      const before = known.get(robot.robotId);
      const next = merged(before, robot);
      if (next === before) return;
      known.set(robot.robotId, next);
      // The store says when it fails; the next news of this robot are then new again.
      store.write([{ key: `r/${robot.robotId}`, value: next }]).catch(() => known.delete(robot.robotId));
    },
  };
}

/** What is known of a robot from both; `before` itself when `next` says nothing new. */
function merged(before: SeenRobot | undefined, next: SeenRobot): SeenRobot {
  if (before === undefined) return next;
  const family = next.family === "unknown" ? before.family : next.family;
  const added = next.conveyorIndexes.filter((index) => !before.conveyorIndexes.includes(index));
  if (family === before.family && added.length === 0) return before;
  return { ...before, family, conveyorIndexes: [...before.conveyorIndexes, ...added] };
}

/** The robots of the configuration with what was seen of them, then all others that were seen. */
export function knownRobots(
  configured: readonly KnownRobot[],
  seen: readonly SeenRobot[],
): readonly KnownRobot[] {
  const robots = new Map<RobotId, KnownRobot>(configured.map((robot) => [robot.robotId, robot]));
  for (const robot of seen) {
    const named = robots.get(robot.robotId);
    if (named === undefined) robots.set(robot.robotId, { ...robot, alias: null, number: null });
    else {
      const family = named.family === "unknown" ? robot.family : named.family;
      const conveyorIndexes = [...new Set([...named.conveyorIndexes, ...robot.conveyorIndexes])];
      robots.set(robot.robotId, { ...named, family, conveyorIndexes });
    }
  }
  return [...robots.values()];
}

/**
 * Only this file writes these records; one that is broken costs its robot the nodes until it is heard of. An
 * earlier version kept every name that the service sent, also those of which no node can be made.
 */
function readRobot(value: unknown): SeenRobot | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("robotId" in value && "family" in value && "conveyorIndexes" in value)) return null;
  const { robotId, family, conveyorIndexes } = value;
  if (!isIdentifier(robotId) || !isFamily(family) || !Array.isArray(conveyorIndexes)) return null;
  return {
    robotId,
    family,
    conveyorIndexes: conveyorIndexes.filter((index) => isIdentifierNumber(index, 0)),
  };
}

function isFamily(value: unknown): value is Family {
  return value === "cart" || value === "serve" || value === "base" || value === "unknown";
}
