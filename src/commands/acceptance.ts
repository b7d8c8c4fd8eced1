import type { CommandRecords } from "../contracts/commander.ts";
import { type Command, commandId } from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import type { Conclusion } from "./conclusion.ts";
import type { AcceptedCommand, Execution, KnownCommand } from "./intake/execution.ts";
import {
  findQueue,
  type IntakeCheckParts,
  identified,
  isOwnStop,
  refusalNow,
  startByMonotonic,
  timeToLeaveMs,
} from "./intake-checks.ts";
import { createJob, type Job, watchStages } from "./job.ts";
import { type ProgressParts, reportProgress } from "./log/command-log.ts";
import { damaged, fault, shuttingDown, unreadable, unrecorded, withoutRecord } from "./own-refusals.ts";
import type { Shared } from "./parts.ts";
import { refusedOnRobot } from "./rights.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

export interface AcceptanceParts
  extends IntakeCheckParts,
    Pick<Shared, "journal" | "log" | "wall" | "rights" | "running">,
    ProgressParts {
  readonly conclusion: Conclusion;
  readonly runner: Pick<QueueRunner, "submit" | "withdraw">;
}

/** Brings commands that have passed the intake to the queue of their robot. */
export function createAcceptance(parts: AcceptanceParts): Execution["begin"] {
  const { clock, running, conclusion } = parts;

  async function admit(job: Job, accepted: AcceptedCommand): Promise<Outcome | null> {
    const refused = await refusalOf(parts, job, accepted);
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
      parts.log.error(
        { err: error, command: job.id, robotId: job.robotId },
        "a command could not be admitted",
      );
      refused = fault();
    }
    if (refused !== null) await conclusion.conclude(job, refused);
  }

  function armExpiry(job: Job): void {
    if (job.request.effect === "stops" || job.request.effect === "reads") return;
    // Timers may fire a moment early: then the command has not expired yet.
    job.disarm = clock.after(Math.max(1, timeToLeaveMs(clock, job)), () => {
      const notNow = refusalNow(parts, job);
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
    if (parts.stopping.signal.aborted && !isOwnStop(accepted)) return refuse(command, shuttingDown());
    const startByMonotonicMs = startByMonotonic(command, clock, parts.wall);
    const acceptedAtMonotonicMs = clock.monotonicMs();
    const request = identified(accepted);
    const job = createJob({ command, digest, request, startByMonotonicMs, acceptedAtMonotonicMs });
    job.watchers.push((stage) => reportProgress(parts, job, stage));
    if (onStage !== undefined) job.watchers.push(onStage);
    running.set(id, job);
    void start(job, accepted);
    return job.done;
  };
}

/** Finds the queue and the robot of a job, and why it may not go on; then its queue decides. */
async function refusalOf(
  parts: IntakeCheckParts & Pick<Shared, "rights">,
  job: Job,
  accepted: AcceptedCommand,
): Promise<Outcome | null> {
  const found = await findQueue(parts, job.request);
  if ("outcome" in found) return found;
  job.queue = found.queue;
  job.robotId = found.robotId;
  const notAllowed = refusedOnRobot(parts.rights.now(), accepted, found.robotId);
  return notAllowed === null ? refusalNow(parts, job) : refusal("NOT_ALLOWED", notAllowed);
}

/** Checks commands without beginning them: a dry run. */
export function createCheck(
  parts: IntakeCheckParts & Pick<Shared, "journal" | "log" | "wall" | "rights">,
): Execution["check"] {
  return async (accepted) => {
    const { digest, command } = accepted;
    const isStop = accepted.request.effect === "stops";
    if (!isStop && !parts.journal.isWritable()) return refusal("JOURNAL_FAILED", "the journal fails");
    const startByMonotonicMs = startByMonotonic(command, parts.clock, parts.wall);
    const job = createJob({ command, digest, request: identified(accepted), startByMonotonicMs });
    try {
      return await refusalOf(parts, job, accepted);
    } catch (error) {
      parts.log.error(
        { err: error, command: job.id, robotId: job.robotId },
        "a command could not be checked",
      );
      return fault();
    }
  };
}

/** The commands that are known by their identity: in hand, or recorded. */
export function createKnownCommands({
  running,
  journal,
  areRecordsLost = false,
}: Pick<Shared, "running" | "journal" | "areRecordsLost">): CommandRecords &
  Pick<Execution, "find" | "isClosed"> {
  function inHand(id: string): KnownCommand | null {
    const job = running.get(id);
    if (job === undefined) return null;
    return {
      digest: job.digest,
      outcome(onStage) {
        if (onStage !== undefined) watchStages(job, onStage);
        return job.done.then((outcome) => ({ ...outcome, duplicate: true }));
      },
    };
  }

  function recorded(id: string): KnownCommand | null {
    const record = journal.find(id);
    if (record === undefined) return null;
    if (record === "damaged") return { digest: null, outcome: () => Promise.resolve(damaged()) };
    const known = record.outcome ?? unrecorded();
    const recorded = journal.isOnDisk(id)
      ? known
      : withoutRecord(known, record.command.effect, areRecordsLost);
    const outcome = { ...recorded, duplicate: true };
    return { digest: record.digest, outcome: () => Promise.resolve(outcome) };
  }

  return {
    find: (id) => inHand(id) ?? recorded(id),
    knows(source, requestId) {
      const id = commandId({ source, requestId });
      return running.has(id) || (!journal.isClosed() && journal.find(id) !== undefined);
    },
    isClosed: journal.isClosed,
    async recall(source, requestId, onStage) {
      const id = commandId({ source, requestId });
      const current = inHand(id);
      if (current !== null) return current.outcome(onStage);
      return journal.isClosed() ? unreadable() : (recorded(id)?.outcome() ?? null);
    },
  };
}
