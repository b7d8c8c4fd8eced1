import type { RobotStop } from "../contracts/cluster.ts";
import { refusal } from "../domain/outcome.ts";
import type { Job } from "./job.ts";
import type { OwnStops } from "./own-stops.ts";
import type { Shared } from "./parts.ts";
import type { Calls } from "./robot-queues/calls.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

/** What stops that other members of the cluster send do to the commands of this one. */
export interface StopsElsewhere {
  /** Another member sends a stop. Starts that have not left do not leave any more. */
  note(stop: RobotStop): void;
  /**
   * Sends the stops again that came while this start was under way: it may have arrived after them. Resolves
   * when the service has answered, or could not be asked.
   */
  repeatFor(job: Job): Promise<void>;
}

interface StopsElsewhereParts extends Pick<Shared, "running"> {
  readonly ownStops: Pick<OwnStops, "repeat">;
  readonly runner: Pick<QueueRunner, "withdraw">;
  readonly calls: Pick<Calls, "stopElsewhere">;
}

export function createStopsElsewhere({
  running,
  ownStops,
  runner,
  calls,
}: StopsElsewhereParts): StopsElsewhere {
  return {
    note(stop) {
      const { robotId } = stop;
      for (const job of running.values()) {
        if (job.request.effect !== "moves" || job.robotId !== robotId) continue;
        if (job.sendings > 0) job.stopsOwed.push(stop);
        calls.stopElsewhere(job.queue);
        runner.withdraw(
          job,
          refusal("CANCELED_BY_STOP", `a stop of ${robotId} overtook it on another member`),
        );
      }
    },
    async repeatFor(job) {
      for (let stop = job.stopsOwed.shift(); stop !== undefined; stop = job.stopsOwed.shift()) {
        await ownStops.repeat(stop);
      }
    },
  };
}
