import type { RobotId } from "../domain/robot.ts";
import type { Log } from "../platform/log.ts";
import type { CachedValue, RobotEntry } from "./robot-entry.ts";

/** Keeps since when a value cannot be true, and logs it. */
export interface ImpossibleWatch {
  /** Handles a message; `problem` says what of it cannot be true, or is null. */
  evaluate(robot: RobotEntry, cached: CachedValue, problem: string | null, nowMs: number): void;
  /** How many messages could not be true. */
  count(): number;
}

export function createImpossibleWatch(log: Log): ImpossibleWatch {
  let count = 0;
  /** One line for a robot: a service that sends nonsense now and then must not fill the log. */
  const reported = new Set<RobotId>();
  return {
    evaluate({ robotId }, cached, problem, nowMs) {
      if (problem === null) {
        cached.impossibleSinceMs = null;
        return;
      }
      count += 1;
      cached.impossibleSinceMs ??= nowMs;
      if (reported.has(robotId)) return;
      reported.add(robotId);
      log.warn({ robotId, problem }, "a robot's value cannot be true: it is shown as stale");
    },
    count: () => count,
  };
}
