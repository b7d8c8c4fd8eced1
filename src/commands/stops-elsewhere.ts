import type { RobotStop } from "../contracts/cluster.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import { sleep } from "../platform/clock.ts";
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
   * Sends the stops again that came while this start was under way: it may have arrived after them. Each is
   * sent until the service has answered: only this member knows that it is owed.
   *
   * @returns false: this member ends or leads no more, and stops are owed still. The start must not get an
   *   outcome then, for the next leader finds by its record that they are owed.
   */
  repeatFor(job: Job): Promise<boolean>;
}

interface StopsElsewhereParts extends Pick<Shared, "running" | "clock" | "shared"> {
  /** This member ends. */
  readonly stopping: AbortSignal;
  readonly ownStops: Pick<OwnStops, "repeat">;
  readonly runner: Pick<QueueRunner, "withdraw">;
  readonly calls: Pick<Calls, "stopElsewhere">;
}

const AGAIN_MS = 1_000;

export function createStopsElsewhere({
  running,
  clock,
  shared,
  stopping,
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
      for (;;) {
        const [stop] = job.stopsOwed;
        if (stop === undefined) return true;
        if (isAnswered(await ownStops.repeat(stop))) {
          job.stopsOwed.splice(job.stopsOwed.indexOf(stop), 1);
          continue;
        }
        if (stopping.aborted || shared?.isLeading() !== true) return false;
        await sleep(clock, AGAIN_MS, stopping);
      }
    },
  };
}

/** Whether the service has answered a stop. Without an answer it may not have it. */
function isAnswered({ outcome, code }: Outcome): boolean {
  return outcome !== "unknown" && outcome !== "expired" && code !== "FLEET_UNREACHABLE";
}
