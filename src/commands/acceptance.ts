import type { Command } from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { SteadyWall } from "../platform/steady-wall.ts";
import { type AdmissionParts, findQueue, identified, startByMonotonic, timeToLeaveMs } from "./admission.ts";
import type { Conclusion } from "./conclusion.ts";
import type { AcceptedCommand, Execution } from "./intake/execution.ts";
import { createJob, type Job } from "./job.ts";
import type { WatchedJournal } from "./journal/watched-journal.ts";
import { closed, fault, shuttingDown } from "./own-refusals.ts";
import { type Rights, refusedOnRobot } from "./rights.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

export interface AcceptanceParts {
  readonly journal: Pick<WatchedJournal, "isClosed">;
  readonly clock: Clock;
  readonly log: Log;
  readonly wall: SteadyWall;
  readonly rights: Rights;
  /** The commands in hand, by identity. */
  readonly running: Map<string, Job>;
  readonly checks: AdmissionParts;
  readonly conclusion: Conclusion;
  readonly runner: Pick<QueueRunner, "submit" | "withdraw">;
  readonly isStopping: () => boolean;
  /** Why a command must not leave now; null when it may. */
  readonly whyNotNow: (job: Job) => Outcome | null;
}

/** Brings commands that have passed the intake to the queue of their robot. */
export function createAcceptance(parts: AcceptanceParts): Execution["begin"] {
  const { clock, running, conclusion, rights } = parts;

  /** Queue and truth; then the queue decides. */
  async function admit(job: Job, accepted: AcceptedCommand): Promise<Outcome | null> {
    const found = await findQueue(parts.checks, job.request);
    if ("outcome" in found) return found;
    job.queue = found.queue;
    job.robotId = found.robotId;
    const notAllowed = refusedOnRobot(rights, accepted, found.robotId);
    const refused = notAllowed === null ? parts.whyNotNow(job) : refusal("NOT_ALLOWED", notAllowed);
    if (refused !== null) return refused;
    armExpiry(job);
    parts.runner.submit(job);
    return null;
  }

  async function start(job: Job, accepted: AcceptedCommand): Promise<void> {
    let refused: Outcome | null;
    try {
      refused = await admit(job, accepted);
    } catch (error) {
      parts.log.error({ err: error, command: job.id }, "a command could not be admitted");
      refused = fault();
    }
    if (refused !== null) await conclusion.conclude(job, refused);
  }

  function armExpiry(job: Job): void {
    if (job.request.effect === "stops" || job.request.effect === "reads") return;
    // Timers may fire a moment early: then the command has not expired yet.
    job.disarm = clock.after(Math.max(1, timeToLeaveMs(clock, job)), () => {
      const notNow = parts.whyNotNow(job);
      if (notNow !== null) parts.runner.withdraw(job, notNow);
      else armExpiry(job);
    });
  }

  async function refuse(command: Command, outcome: Outcome): Promise<Outcome> {
    return conclusion.refuse(command, outcome);
  }

  /** Synchronous up to `running`, so that no second command of the same identity comes in between. */
  return (accepted, onStage) => {
    const { id, digest, command } = accepted;
    if (parts.journal.isClosed()) return refuse(command, closed());
    if (parts.isStopping()) return refuse(command, shuttingDown());
    const startByMonotonicMs = startByMonotonic(command, clock, parts.wall);
    const job = createJob({ command, digest, request: identified(accepted), startByMonotonicMs });
    if (onStage !== undefined) job.watchers.push(onStage);
    running.set(id, job);
    void start(job, accepted);
    return job.done;
  };
}
