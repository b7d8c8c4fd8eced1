import { isDriving } from "./body.ts";
import { samePlace, type Target } from "./map.ts";
import type { Robot } from "./robot.ts";

/**
 * The navigate-auto rule (docs/service.md, TRN-32): the first goal, in list order from `from`, that is
 * neither occupied (another robot stands there) nor claimed (another robot is on its way there, for a mission
 * or a task chain).
 *
 * @returns its index, or -1 if all are taken
 */
export function firstFreeGoal(
  robot: Robot,
  targets: readonly Target[],
  robots: Iterable<Robot>,
  from: number,
): number {
  const others = [...robots].filter((other) => other !== robot && other.map === robot.map);
  return targets.findIndex((target, index) => index >= from && !others.some((other) => takes(other, target)));
}

function takes(other: Robot, target: Target): boolean {
  if (other.bound !== undefined && samePlace(other.bound, target)) return true;
  return !isDriving(other) && samePlace(other.body.place, target);
}
