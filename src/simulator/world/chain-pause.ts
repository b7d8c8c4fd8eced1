import { Refusal } from "../refusal.ts";
import type { Chain } from "./chain.ts";
import type { WorldContext } from "./context.ts";
import type { Motion } from "./motion.ts";
import type { Robot } from "./robot.ts";

/** Pauses and resumes robots in their task chains. Each refuses for a robot without one. */
export interface ChainPause {
  /** Halts the robot in its chain: at once, or at the next waypoint. */
  pause(robot: Robot, stopNow: boolean, by: string): void;
  resume(robot: Robot, by: string): void;
}

/** @param chainOf returns the chain that a robot executes; throws a Refusal if there is none */
export function createChainPause(
  world: WorldContext,
  motion: Motion,
  chainOf: (robot: Robot) => Chain,
): ChainPause {
  const note = (robot: Robot, status: "paused" | "resumed", by: string) =>
    world.record.add(robot.id, { what: "chain", chainId: chainOf(robot).id, status, by });

  return {
    pause(robot, stopNow, by) {
      chainOf(robot);
      if (robot.body.halts.has("chain-paused")) {
        throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is paused already`);
      }
      note(robot, "paused", by);
      robot.body.haltAtWaypoint = false;
      if (stopNow) motion.halt(robot, "chain-paused");
      else motion.haltAtWaypoint(robot);
    },
    resume(robot, by) {
      chainOf(robot);
      const { body } = robot;
      if (!body.halts.has("chain-paused") && !body.haltAtWaypoint) {
        throw new Refusal("FAILED_PRECONDITION", `robot ${robot.id} is not paused`);
      }
      note(robot, "resumed", by);
      body.haltAtWaypoint = false;
      motion.release(robot, "chain-paused");
    },
  };
}
