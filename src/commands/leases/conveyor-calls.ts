import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Job } from "../job.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/** Keeps, for the leases, which conveyors their owners have started and not stopped. */
export interface ConveyorCalls {
  /** A call leaves: the conveyors that it starts count as rolling from now on. */
  left(job: Job): void;
  /** A call has its outcome: a stop counts if it succeeded and no start was called after it. */
  ended(job: Job, outcome: Outcome): void;
}

export function createConveyorCalls(leases: Pick<LeaseKeeper, "rolled">): ConveyorCalls {
  /** The order of calls that concern conveyors; one number for each robot that ever had any. */
  const calledAs = new WeakMap<Job, number>();
  const lastStart = new Map<RobotId, number>();
  let calls = 0;

  return {
    left(job) {
      const { command, request, robotId } = job;
      if (request.conveyors === null || robotId === null) return;
      calls += 1;
      calledAs.set(job, calls);
      const { started } = request.conveyors;
      if (started.length === 0) return;
      lastStart.set(robotId, calls);
      leases.rolled(command.source, robotId, { started, stopped: [] });
    },
    ended(job, { outcome }) {
      const { command, request, robotId } = job;
      if (request.conveyors === null || robotId === null) return;
      if (outcome !== "succeeded" && outcome !== "probably_succeeded") return;
      if ((lastStart.get(robotId) ?? 0) > (calledAs.get(job) ?? 0)) return;
      leases.rolled(command.source, robotId, { started: [], stopped: request.conveyors.stopped });
    },
  };
}
