import type { WorldContext } from "./context.ts";
import { conductOf } from "./mission.ts";
import { activeMission, type Robot } from "./robot.ts";

/** The loads of robots, in kilograms, and their effect on missions. */
export interface Weights {
  /** Puts weight on the robot, or (negative) takes it off. */
  change(robot: Robot, changeKg: number): void;
  /** Changes the weight like staff at a patrol's stop, if the rules have staff. */
  changeAtStop(robot: Robot, until: "done" | "told" | "empty" | "full"): void;
  isFull(robot: Robot): boolean;
}

export function createWeights(world: WorldContext): Weights {
  const isFull = (robot: Robot) => robot.carriedKg > world.rules.bussingThresholdKg;

  const change = (robot: Robot, changeKg: number) => {
    const carriedKg = Math.max(robot.carriedKg + changeKg, 0);
    const emptied = carriedKg === 0 && robot.carriedKg > 0;
    robot.carriedKg = carriedKg;
    world.record.add(robot.id, { what: "weight", carriedKg });
    const mission = activeMission(robot);
    if (mission === undefined) return;
    const { until } = conductOf(mission.kind);
    if ((until === "empty" && emptied) || (until === "full" && isFull(robot))) mission.endReached = true;
  };

  return {
    change,
    changeAtStop(robot, until) {
      const { weightChangeMs, weightChangeKg } = world.rules;
      if (weightChangeMs === undefined) return;
      if (until === "empty") change(robot, -weightChangeKg);
      if (until === "full") change(robot, weightChangeKg);
    },
    isFull,
  };
}
