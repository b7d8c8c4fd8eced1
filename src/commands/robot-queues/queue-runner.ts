import { type Outcome, ending as outcomeOf } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createBaselines } from "../evidence/baselines.ts";
import type { EvidenceSearch } from "../evidence/evidence-search.ts";
import type { Observations } from "../evidence/observations.ts";
import { type Job, tellStage } from "../job.ts";
import type { WatchedJournal } from "../journal/watched-journal.ts";
import type { DispatcherOptions } from "../options.ts";
import { type CallParts, createCalls } from "./calls.ts";
import { createRecorder } from "./recorder.ts";
import {
  emptyQueue,
  isIdle,
  newWork,
  type QueueEffect,
  type QueueInput,
  type RobotQueue,
} from "./robot-queue.ts";
import { stepQueue } from "./step-queue.ts";
import { createStopOrder } from "./stop-order.ts";

export interface QueueRunnerParts extends Omit<CallParts, "options" | "baselines" | "stopOrder"> {
  readonly options: DispatcherOptions;
  readonly journal: Pick<WatchedJournal, "writeInTime">;
  readonly clock: Clock;
  readonly log: Log;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
  /** Why a command must not leave now; null when it may. */
  readonly whyNotNow: (job: Job) => Outcome | null;
  readonly onFinish: (job: Job, outcome: Outcome) => void;
}

/** Does what the robot queues decide: the effects of `stepQueue`. */
export interface QueueRunner {
  submit(job: Job): void;
  /** Ends a command that has not been sent. */
  withdraw(job: Job, outcome: Outcome): void;
  /** Ends a command however far it has come. False when it is in no queue. */
  abandon(job: Job, outcome: Outcome): boolean;
  /**
   * Seeks evidence of a command that an earlier run has sent, from `canSee` on; its queue waits meanwhile.
   */
  recover(job: Job, otherwise: Outcome, canSee: Promise<void>): void;
  /** Queues in use, and commands waiting in them. */
  figures(): { readonly queues: number; readonly waiting: number };
}

const FIRST_PAUSE_MS = 200;

export function createQueueRunner(parts: QueueRunnerParts): QueueRunner {
  const { options, search } = parts;
  const queues = new Map<string, RobotQueue>();
  const jobs = new Map<string, Job>();
  const stopOrder = createStopOrder((queue) =>
    (queues.get(queue)?.beside ?? []).map(({ id }) => jobs.get(id)).filter((job) => job !== undefined),
  );
  const baselines = createBaselines(search, parts.observations, parts.clock);
  const calls = createCalls({ ...parts, baselines, stopOrder });
  const record = createRecorder({ ...parts, baselines, feed });

  function feed(job: Job, input: QueueInput): void {
    const { queue: name } = job;
    const step = stepQueue(queues.get(name) ?? emptyQueue, input, options);
    if (isIdle(step.queue)) {
      queues.delete(name);
      stopOrder.forget(name);
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
        void baselines.ask(job).then(() => feed(job, { kind: "baseline_known", id }));
        return;
      case "stage":
        tellStage(job, effect.stage);
        return;
      case "call":
        void calls.make(job).then((input) => feed(job, input));
        return;
      case "pause": {
        const pauseMs = Math.min(options.pollMs, FIRST_PAUSE_MS * 2 ** (job.sendings - 1));
        const again = () => feed(job, { kind: "again", id, over: calls.whyNotAgain(job) });
        parts.clock.after(pauseMs, again);
        return;
      }
      case "seek":
        void seek(job, effect.otherwise);
        return;
      case "finish":
        jobs.delete(id);
        parts.onFinish(job, effect.outcome);
        return;
    }
  }

  async function seek(job: Job, otherwise: Outcome): Promise<void> {
    const baseline = job.record?.baseline ?? job.baseline;
    const outcome = await search.seek(job.id, job.request.evidence, baseline, otherwise);
    feed(job, { kind: "sought", id: job.id, outcome });
  }

  return {
    submit(job) {
      jobs.set(job.id, job);
      // A stop counts from now on, not from when its record is on the disk and it leaves.
      stopOrder.arrive(job);
      feed(job, { kind: "submitted", work: newWork(job.id, job.request) });
    },
    withdraw: (job, outcome) => feed(job, { kind: "withdrawn", id: job.id, outcome }),
    abandon(job, outcome) {
      if (!jobs.has(job.id)) return false;
      feed(job, { kind: "sought", id: job.id, outcome });
      return true;
    },
    recover(job, otherwise, canSee) {
      jobs.set(job.id, job);
      feed(job, { kind: "recovered", id: job.id });
      // Without evidence there is nothing to wait for.
      if (job.request.evidence.kind === "none") void seek(job, otherwise);
      else void canSee.then(() => seek(job, otherwise));
    },
    figures() {
      let waiting = 0;
      for (const queue of queues.values()) waiting += queue.waiting.length;
      return { queues: queues.size, waiting };
    },
  };
}

/** What is said of a command when the gateway stopped before its ending was known. */
export function interrupted(isRepeatable: boolean): Outcome {
  const message = "the gateway stopped before the service's answer was known; the robot may have acted";
  return outcomeOf("unknown", "OUTCOME_UNKNOWN", message, isRepeatable);
}
