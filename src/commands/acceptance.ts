import type { CommandRecords } from "../contracts/commander.ts";
import { type Command, commandId } from "../domain/command.ts";
import { type Outcome, refusal } from "../domain/outcome.ts";
import type { Conclusion } from "./conclusion.ts";
import type { AcceptedCommand, Execution, KnownCommand } from "./intake/request.ts";
import { type IntakeChecks, identified, startByMonotonic, timeToLeaveMs } from "./intake-checks.ts";
import { createJob, type Job, watchStages } from "./job.ts";
import { damaged, fault, inOtherHands, unreadable, unrecorded, withoutRecord } from "./own-refusals.ts";
import type { Shared } from "./parts.ts";
import type { CommandReport } from "./report.ts";
import type { QueueRunner } from "./robot-queues/queue-runner.ts";

interface AcceptanceParts extends Pick<Shared, "running" | "wall" | "clock" | "log"> {
  readonly checks: IntakeChecks;
  readonly report: Pick<CommandReport, "reached">;
  readonly runner: Pick<QueueRunner, "submit" | "withdraw">;
  readonly conclusion: Pick<Conclusion, "conclude" | "refuse">;
}

/** Brings commands that have passed the intake to the queue of their robot. */
export function createAcceptance({
  running,
  wall,
  clock,
  log,
  checks,
  report,
  runner,
  conclusion,
}: AcceptanceParts): Execution["begin"] {
  /** The queues of stops that came while the service was asked for the robot of each of these starts. */
  const asking = new Map<Job, Set<string>>();

  async function admit(job: Job, accepted: AcceptedCommand): Promise<Outcome | null> {
    const { effect } = job.request;
    const startsBefore = effect === "stops" ? [...asking.values()] : [];
    const stopped = new Set<string>();
    if (effect === "moves") asking.set(job, stopped);
    let refused: Outcome | null;
    try {
      refused = await checks.assign(job, accepted);
    } finally {
      asking.delete(job);
    }
    if (refused !== null) return refused;
    for (const queues of startsBefore) queues.add(job.queue);
    if (stopped.has(job.queue))
      return refusal("CANCELED_BY_STOP", "a stop of its robot came before it was known which robot that is");
    armExpiry(job);
    runner.submit(job);
    return null;
  }

  async function start(job: Job, accepted: AcceptedCommand): Promise<void> {
    let refused: Outcome | null;
    try {
      refused = await admit(job, accepted);
    } catch (error) {
      log.error({ err: error, command: job.id, robotId: job.robotId }, "a command could not be admitted");
      refused = fault();
    }
    if (refused !== null) await conclusion.conclude(job, refused);
  }

  function armExpiry(job: Job): void {
    if (job.request.effect === "stops" || job.request.effect === "reads") return;
    // Timers may fire a moment early: then the command has not expired yet.
    job.disarm = clock.after(Math.max(1, timeToLeaveMs(clock, job)), () => {
      const notNow = checks.refusalNow(job);
      if (notNow !== null) runner.withdraw(job, notNow);
      else armExpiry(job);
    });
  }

  async function refuse(command: Command, outcome: Outcome): Promise<Outcome> {
    return conclusion.refuse(command, outcome);
  }

  /** Synchronous up to `running`, so that no second command of the same identity comes in between. */
  return (accepted, onStage) => {
    const { id, digest, command } = accepted;
    const refused = checks.refusedInThisRun(accepted);
    if (refused?.code === "STANDBY") {
      return checks.refusalOfStandby(id).then((outcome) => conclusion.refuse(command, outcome));
    }
    if (refused !== null) return refuse(command, refused);
    const startByMonotonicMs = startByMonotonic(command, clock, wall);
    const acceptedAtMonotonicMs = clock.monotonicMs();
    const request = identified(accepted);
    const isUnrecorded = checks.isStandingBy();
    const job = createJob({
      ...{ command, digest, request, startByMonotonicMs, acceptedAtMonotonicMs },
      isUnrecorded,
    });
    job.watchers.push((stage) => report.reached(job, stage));
    if (onStage !== undefined) job.watchers.push(onStage);
    running.set(id, job);
    void start(job, accepted);
    return job.done;
  };
}

/** Checks commands without beginning them: a dry run. */
export function createCheck({
  checks,
  journal,
  wall,
  clock,
  log,
}: Pick<Shared, "journal" | "wall" | "clock" | "log"> & Pick<AcceptanceParts, "checks">): Execution["check"] {
  return async (accepted) => {
    const { digest, command } = accepted;
    const isStop = accepted.request.effect === "stops";
    if (!isStop && !journal.isWritable()) return refusal("JOURNAL_FAILED", "the journal fails");
    const startByMonotonicMs = startByMonotonic(command, clock, wall);
    const job = createJob({ command, digest, request: identified(accepted), startByMonotonicMs });
    try {
      return await checks.assign(job, accepted);
    } catch (error) {
      log.error({ err: error, command: job.id, robotId: job.robotId }, "a command could not be checked");
      return fault();
    }
  };
}

/** The commands that are known by their identity: in hand, or recorded. */
export function createKnownCommands({
  running,
  journal,
  areRecordsLost,
  shared,
}: Pick<Shared, "running" | "journal" | "areRecordsLost" | "shared">): CommandRecords &
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
    const isElsewhere = shared !== null && !shared.isLeading();
    const known = record.outcome ?? (isElsewhere ? inOtherHands() : unrecorded());
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
