import type { ParsedRequest } from "../../contracts/operation.ts";
import { type Outcome, ending as outcomeOf } from "../../domain/outcome.ts";
import { isOwnStop } from "../intake-checks.ts";
import { type Job, reportStage } from "../job.ts";
import type { Shared } from "../parts.ts";
import type { Calls } from "./calls.ts";
import type { RecordStage, SeekEvidence } from "./recording.ts";
import type { QueueEffect, QueueInput, RobotQueue, Work } from "./robot-queue.ts";
import { stepQueue } from "./step-queue.ts";

interface QueueRunnerParts extends Pick<Shared, "options" | "shared" | "clock"> {
  readonly calls: Calls;
  readonly recordStage: RecordStage;
  readonly seekEvidence: SeekEvidence;
  /** A command has left its queue, with this outcome. */
  readonly onEnd: (job: Job, outcome: Outcome) => void;
}

/** Carries out the decisions of the robot queues: the effects of `stepQueue`. */
export interface QueueRunner {
  submit(job: Job): void;
  /** Ends a command that has not been sent. */
  withdraw(job: Job, outcome: Outcome): void;
  /** Ends a command at any stage. False: it is in no queue. */
  abandon(job: Job, outcome: Outcome): boolean;
  /** The commands that run beside the one in flight of this queue. */
  besides(queue: string): readonly Job[];
  /**
   * Seeks evidence of a command that an earlier run has sent, from `canSee` on; its queue waits meanwhile,
   * and without evidence for `arrivalMs`, in which its call may still arrive.
   */
  recover(job: Job, otherwise: Outcome, canSee: Promise<void>, arrivalMs: number): void;
  /**
   * The number of queues in use, of commands waiting in them, and of queues that wait for the end of an
   * earlier run's command.
   */
  figures(): { readonly queues: number; readonly waiting: number; readonly inDoubt: number };
}

const FIRST_PAUSE_MS = 200;
const emptyQueue: RobotQueue = { head: null, waiting: [], beside: [], recovered: [] };

export function createQueueRunner({
  options,
  shared,
  clock,
  calls,
  recordStage,
  seekEvidence,
  onEnd,
}: QueueRunnerParts): QueueRunner {
  const queues = new Map<string, RobotQueue>();
  const jobs = new Map<string, Job>();

  function feed(job: Job, input: QueueInput): void {
    const { queue: name } = job;
    const step = stepQueue(queues.get(name) ?? emptyQueue, input, options);
    if (isIdle(step.queue)) {
      queues.delete(name);
      calls.forget(name);
    } else queues.set(name, step.queue);
    for (const effect of step.effects) {
      const concerned = jobs.get(effect.id);
      if (concerned !== undefined) void run(concerned, effect);
    }
  }

  function run(job: Job, effect: QueueEffect): void {
    const { id } = job;
    switch (effect.kind) {
      case "record":
        void record(job, effect.as);
        return;
      case "ask_baseline":
        void calls.askBaseline(job).then(() => feed(job, { kind: "baseline_known", id }));
        return;
      case "report_accepted":
        reportStage(job, "accepted");
        return;
      case "call":
        void calls.make(job).then((input) => feed(job, input));
        return;
      case "pause": {
        const pauseMs = Math.min(options.pollMs, FIRST_PAUSE_MS * 2 ** (job.sendings - 1));
        const again = () => feed(job, { kind: "again", id, over: calls.whyNotAgain(job) });
        clock.after(pauseMs, again);
        return;
      }
      case "seek":
        void seek(job, effect.otherwise);
        return;
      case "finish":
        jobs.delete(id);
        onEnd(job, effect.outcome);
        return;
    }
  }

  async function record(job: Job, as: "accepted" | "sent"): Promise<void> {
    const { id } = job;
    const late = () => feed(job, { kind: "record_late", id });
    const input = await recordStage(job, as, () => jobs.has(id), late);
    if (input !== null) feed(job, input);
  }

  /** `arrivalMs`: how long its call may still arrive; absent: as long as this run's last call may. */
  async function seek(job: Job, otherwise: Outcome, arrivalMs?: number): Promise<void> {
    const outcome = await seekEvidence(job, otherwise, arrivalMs);
    feed(job, { kind: "sought", id: job.id, outcome });
  }

  /** A stop of the gateway's own follows from what the other members know, too. */
  function announce(job: Job): void {
    const { robotId, request, command } = job;
    if (shared === null || request.effect !== "stops" || robotId === null || isOwnStop(job)) return;
    const stop = { robotId, operation: command.operation, requestJson: request.json };
    for (const other of jobs.values()) {
      if (other.request.effect === "moves" && other.robotId === robotId && other.sendings > 0)
        other.stopsSince.push(stop);
    }
    shared.stopLeaves(stop);
  }

  return {
    submit(job) {
      jobs.set(job.id, job);
      // A stop counts from now on, not from when its record is on the disk and it leaves.
      calls.arrive(job);
      announce(job);
      feed(job, { kind: "submitted", work: newWork(job.id, job.request) });
    },
    withdraw: (job, outcome) => feed(job, { kind: "withdrawn", id: job.id, outcome }),
    abandon(job, outcome) {
      if (!jobs.has(job.id)) return false;
      feed(job, { kind: "sought", id: job.id, outcome });
      return true;
    },
    besides: (queue) =>
      (queues.get(queue)?.beside ?? []).map(({ id }) => jobs.get(id)).filter((job) => job !== undefined),
    recover(job, otherwise, canSee, waitMs) {
      jobs.set(job.id, job);
      feed(job, { kind: "recovered", id: job.id });
      // Without evidence there is nothing to wait for.
      if (job.request.evidence.kind === "none") void seek(job, otherwise, waitMs);
      else void canSee.then(() => seek(job, otherwise, waitMs));
    },
    figures() {
      let waiting = 0;
      let inDoubt = 0;
      for (const queue of queues.values()) {
        waiting += queue.waiting.length;
        if (queue.recovered.length > 0) inDoubt += 1;
      }
      return { queues: queues.size, waiting, inDoubt };
    },
  };
}

/** A new command on its way into a queue. */
function newWork(id: string, { effect, repeat, evidence }: ParsedRequest): Work {
  const isAsked = evidence.kind === "query" && evidence.baseline !== undefined;
  return {
    id,
    effect,
    repeat,
    needsBaseline: isAsked && effect !== "stops",
    phase: "waiting",
    isRecorded: false,
    hasBaseline: false,
    unknown: null,
  };
}

/** Whether the queue is empty and can be dropped. */
function isIdle(queue: RobotQueue): boolean {
  return (
    queue.head === null &&
    queue.waiting.length === 0 &&
    queue.beside.length === 0 &&
    queue.recovered.length === 0
  );
}

/** The outcome of a command whose ending was not known when the gateway stopped. */
export function interrupted(isRepeatable: boolean): Outcome {
  const message = "the gateway stopped before the service's answer was known; the robot may have acted";
  return outcomeOf("unknown", "OUTCOME_UNKNOWN", message, isRepeatable);
}
