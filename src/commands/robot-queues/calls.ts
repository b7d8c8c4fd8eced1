import type { CallEnding, FleetPort } from "../../contracts/fleet-port.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError, type Log } from "../../platform/log.ts";
import { timeToLeaveMs } from "../admission.ts";
import type { Baselines } from "../evidence/baselines.ts";
import type { Job } from "../job.ts";
import type { DispatcherOptions } from "../options.ts";
import type { QueueInput } from "./robot-queue.ts";
import type { StopOrder } from "./stop-order.ts";

export interface CallParts {
  readonly options: Pick<DispatcherOptions, "callDeadlineMs" | "evidenceMs">;
  readonly port: FleetPort;
  readonly clock: Clock;
  readonly log: Log;
  readonly baselines: Baselines;
  readonly stopOrder: StopOrder;
  /** A call is made. */
  readonly onCall: (job: Job) => void;
  /** The service named missions that the call has made. */
  readonly onMissions: (job: Job, missionIds: readonly string[]) => void;
}

/** Makes the calls of commands to the service. */
export interface Calls {
  /** Makes one call. Resolves with what its queue is to be told. Never rejects. */
  make(job: Job): Promise<QueueInput>;
  /** Why the command is not sent again, as what follows "not sent"; null when it is. */
  whyNotAgain(job: Job): string | null;
}

/**
 * A stop has no expiry. If its sender's has passed, it still gets the time that a connection or a token
 * takes.
 */
const STOP_LEAVES_MS = 2_000;

export function createCalls(parts: CallParts): Calls {
  const { options, port, clock, log, stopOrder } = parts;

  /**
   * How long the call may still leave: to its expiry, or while evidence is sought if its repeat rule says so.
   */
  function mayLeaveForMs(job: Job): number {
    const leftMs = timeToLeaveMs(clock, job);
    const { repeat } = job.request;
    if (job.unknownSinceMs === null || repeat.kind === "never" || repeat.until === "expiry") return leftMs;
    return Math.max(leftMs, job.unknownSinceMs + options.evidenceMs - clock.monotonicMs());
  }

  function send(job: Job): Promise<CallEnding> {
    const { effect, payload } = job.request;
    const isStop = effect === "stops";
    const leastMs = isStop && job.sendings === 1 ? STOP_LEAVES_MS : 0;
    const leaveWithinMs = Math.max(mayLeaveForMs(job), leastMs);
    return port.call(payload, options.callDeadlineMs, leaveWithinMs, {
      isStop,
      ...(effect === "reads" ? {} : { robot: job.queue }),
      mayLeave: stopOrder.guard(job),
      leaves: () => stopOrder.leave(job),
    });
  }

  return {
    async make(job) {
      if (job.sendings === 0) parts.baselines.watch(job);
      job.sendings += 1;
      parts.onCall(job);
      let ending: CallEnding;
      try {
        ending = await send(job);
      } catch (error) {
        log.error({ err: error, command: job.id }, "a call failed in a way that it must not");
        ending = { kind: "unknown", code: "INTERNAL", message: describeError(error) };
      }
      if (ending.kind === "refused" || ending.kind === "not_sent") stopOrder.withdraw(job);
      if (ending.kind === "unknown") job.unknownSinceMs ??= clock.monotonicMs();
      if (ending.kind === "ok") parts.onMissions(job, ending.missionIds ?? []);
      // The hold is the reason why it was not sent, not the stop that came with the hold.
      if (ending.kind === "not_sent" && job.heldBack !== null) {
        return { kind: "sought", id: job.id, outcome: job.heldBack };
      }
      return { kind: "ended", id: job.id, ending };
    },
    whyNotAgain(job) {
      if (job.overtakenBy !== null) return `until ${job.overtakenBy} left, which it would undo`;
      return mayLeaveForMs(job) > 0 ? null : "within its expiry";
    },
  };
}
