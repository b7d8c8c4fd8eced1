import type { FleetPort } from "../../contracts/fleet-port.ts";
import { type Outcome, ending as outcomeOf } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError, type Log } from "../../platform/log.ts";
import { timeToLeaveMs } from "../admission.ts";
import type { EvidenceSearch } from "../evidence/evidence-search.ts";
import type { Observations } from "../evidence/observations.ts";
import { watchBaseline } from "../evidence/watch.ts";
import { type Job, tellStage } from "../job.ts";
import type { JournalRecord } from "../journal/journal.ts";
import type { WatchedJournal } from "../journal/watched-journal.ts";
import type { DispatcherOptions } from "../options.ts";
import {
  emptyQueue,
  isIdle,
  newWork,
  type QueueEffect,
  type QueueInput,
  type RobotQueue,
  stepQueue,
} from "./robot-queue.ts";

export interface QueueRunnerParts {
  readonly options: DispatcherOptions;
  readonly port: FleetPort;
  readonly journal: Pick<WatchedJournal, "writeInTime">;
  readonly clock: Clock;
  readonly log: Log;
  readonly search: EvidenceSearch;
  readonly observations: Observations;
  /** Why a command must not leave now; null when it may. */
  readonly whyNotNow: (job: Job) => Outcome | null;
  /** A call leaves. */
  readonly onCall: (job: Job) => void;
  /** The service named missions that the call has made. */
  readonly onMissions: (job: Job, missionIds: readonly string[]) => void;
  readonly onFinish: (job: Job, outcome: Outcome) => void;
}

/** Does what the queues decide: the thin shell around `stepQueue`. */
export interface QueueRunner {
  submit(job: Job): void;
  /** Ends a command that has not been sent. */
  withdraw(job: Job, outcome: Outcome): void;
  /** Ends a command however far it has come. False when it is in no queue. */
  abandon(job: Job, outcome: Outcome): boolean;
  /**
   * Looks into a command that a predecessor of this process has sent, from when there may be
   * something to see; its queue waits meanwhile.
   */
  recover(job: Job, otherwise: Outcome, canSee: Promise<void>): void;
  /** Robot queues in use, and commands waiting in them. */
  figures(): { readonly queues: number; readonly waiting: number };
}

const FIRST_PAUSE_MS = 200;
/** A stop waits for no expiry: one that came after its own gets the time that a connection or a token takes. */
const STOP_LEAVES_MS = 2_000;

export function createQueueRunner(parts: QueueRunnerParts): QueueRunner {
  const { options, port, journal, clock, log, search, observations } = parts;
  const queues = new Map<string, RobotQueue>();
  const jobs = new Map<string, Job>();
  /** Stops that came to each queue that is in use: a start that waits for its connection must not leave after one. */
  const stopsMade = new Map<string, number>();
  let arrivals = 0;

  function feed(name: string, input: QueueInput): void {
    const step = stepQueue(queues.get(name) ?? emptyQueue, input, options);
    if (isIdle(step.queue)) {
      queues.delete(name);
      stopsMade.delete(name);
    } else queues.set(name, step.queue);
    for (const effect of step.effects) {
      const job = jobs.get(effect.id);
      if (job !== undefined) run(job, effect);
    }
  }

  function run(job: Job, effect: QueueEffect): void {
    switch (effect.kind) {
      case "record":
        void record(job, effect.as);
        return;
      case "ask_baseline":
        void askBaseline(job);
        return;
      case "stage":
        tellStage(job, effect.stage);
        return;
      case "call":
        void call(job);
        return;
      case "pause": {
        const pauseMs = Math.min(options.pollMs, FIRST_PAUSE_MS * 2 ** (job.sendings - 1));
        clock.after(pauseMs, () => feed(job.queue, { kind: "again", id: job.id, over: whyNotAgain(job) }));
        return;
      }
      case "seek":
        void seek(job, effect.otherwise);
        return;
      case "finish":
        jobs.delete(job.id);
        parts.onFinish(job, effect.outcome);
        return;
    }
  }

  async function record(job: Job, as: "accepted" | "sent"): Promise<void> {
    const { id, queue } = job;
    job.entry = entryOf(job, as);
    const cancelLate =
      job.request.effect === "stops"
        ? clock.after(options.stopSyncMs, () => feed(queue, { kind: "record_late", id }))
        : () => {};
    const failure = await journal.writeInTime(job.entry);
    cancelLate();
    if (failure === null) {
      feed(queue, { kind: "recorded", id, as, refused: as === "sent" ? parts.whyNotNow(job) : null });
    } else {
      log.error({ cause: failure, command: id }, "the journal failed");
      feed(queue, { kind: "record_failed", id, message: failure });
    }
  }

  function entryOf(job: Job, as: "accepted" | "sent"): JournalRecord {
    const nowMs = clock.nowMs();
    return {
      id: job.id,
      digest: job.digest,
      command: job.command,
      queue: job.queue,
      robotId: job.robotId,
      acceptedAtMs: job.entry?.acceptedAtMs ?? nowMs,
      sentAtMs: as === "sent" ? nowMs : null,
      finalAtMs: null,
      sentJson: job.request.json,
      baseline: as === "sent" ? baselineNow(job) : null,
      outcome: null,
    };
  }

  function baselineNow(job: Job): unknown {
    const { evidence } = job.request;
    if (evidence.kind === "none" || job.robotId === null) return null;
    if (evidence.kind === "query") return job.baseline;
    return watchBaseline(evidence, observations.missions(job.robotId));
  }

  async function askBaseline(job: Job): Promise<void> {
    const { evidence } = job.request;
    if (evidence.kind === "query") job.baseline = await search.baseline(evidence);
    feed(job.queue, { kind: "baseline_known", id: job.id });
  }

  /** A stop does not wait to be told the state before it: it is asked for as the stop leaves, and may come too late. */
  async function askBeside(job: Job): Promise<void> {
    const { evidence } = job.request;
    if (evidence.kind === "query") job.baseline = await search.baseline(evidence);
  }

  async function call(job: Job): Promise<void> {
    const { evidence } = job.request;
    const isStop = job.request.effect === "stops";
    if (job.sendings === 0 && job.robotId !== null && evidence.kind !== "none" && evidence.kind !== "query") {
      const baseline = watchBaseline(evidence, observations.missions(job.robotId));
      search.watch(job.id, evidence, job.robotId, baseline, clock.nowMs());
    }
    if (job.sendings === 0 && isStop) void askBeside(job);
    job.sendings += 1;
    const stopsBefore = stopsMade.get(job.queue);
    const isStopped = () => job.request.effect === "moves" && stopsMade.get(job.queue) !== stopsBefore;
    parts.onCall(job);
    const leaveWithinMs = Math.max(mayLeaveForMs(job), isStop && job.sendings === 1 ? STOP_LEAVES_MS : 0);
    const ending = await port
      .call(job.command.operation, job.request.json, options.callDeadlineMs, leaveWithinMs, {
        isStop,
        ...(job.request.effect === "reads" ? {} : { robot: job.queue }),
        mayLeave: () => (isStop ? job.overtakenBy === null : job.heldBack === null && !isStopped()),
        leaves: () => overtake(job),
      })
      .catch((error: unknown) => {
        log.error({ err: error, command: job.id }, "a call failed in a way that it must not");
        return { kind: "unknown", code: "INTERNAL", message: describeError(error) } as const;
      });
    if (ending.kind === "refused" || ending.kind === "not_sent") giveBack(job);
    if (ending.kind === "unknown") job.unknownSinceMs ??= clock.monotonicMs();
    if (ending.kind === "ok") parts.onMissions(job, ending.missionIds ?? []);
    // It never left: the hold is the reason to tell, not the stop that came with it.
    if (ending.kind === "not_sent" && job.heldBack !== null) {
      feed(job.queue, { kind: "sought", id: job.id, outcome: job.heldBack });
    } else feed(job.queue, { kind: "ended", id: job.id, ending });
  }

  /** How long the call may still leave: to its expiry, or while evidence would be sought where its repeat rule says so. */
  function mayLeaveForMs(job: Job): number {
    const leftMs = timeToLeaveMs(clock, job);
    const { repeat } = job.request;
    if (job.unknownSinceMs === null || repeat.kind === "never" || repeat.until === "expiry") return leftMs;
    return Math.max(leftMs, job.unknownSinceMs + options.evidenceMs - clock.monotonicMs());
  }

  function whyNotAgain(job: Job): string | null {
    if (job.overtakenBy !== null) return `until ${job.overtakenBy} left, which it would undo`;
    return mayLeaveForMs(job) > 0 ? null : "within its expiry";
  }

  /** A start leaves: earlier stops of the same, which wait to be sent or sent again, are not any more. */
  function overtake(start: Job): void {
    if (start.request.effect !== "moves") return;
    for (const stop of stopsBeside(start)) {
      const isUndone =
        stop.arrival < start.arrival &&
        stop.request.switches.some((name) => start.request.switches.includes(name));
      if (isUndone) stop.overtakenBy ??= start.id;
    }
  }

  /** A start has done nothing after all. */
  function giveBack(start: Job): void {
    for (const stop of stopsBeside(start)) {
      if (stop.overtakenBy === start.id) stop.overtakenBy = null;
    }
  }

  function stopsBeside({ queue }: Job): readonly Job[] {
    const beside = (queues.get(queue)?.beside ?? []).map(({ id }) => jobs.get(id));
    return beside.filter((job): job is Job => job?.request.effect === "stops");
  }

  async function seek(job: Job, otherwise: Outcome): Promise<void> {
    const baseline = job.entry?.baseline ?? job.baseline;
    const outcome = await search.seek(job.id, job.request.evidence, baseline, otherwise);
    feed(job.queue, { kind: "sought", id: job.id, outcome });
  }

  return {
    submit(job) {
      const { evidence, effect, repeat } = job.request;
      const needsBaseline = evidence.kind === "query" && evidence.baseline !== undefined;
      jobs.set(job.id, job);
      arrivals += 1;
      job.arrival = arrivals;
      // From now on, not from when its record is on the disk and it leaves.
      if (effect === "stops") stopsMade.set(job.queue, (stopsMade.get(job.queue) ?? 0) + 1);
      feed(job.queue, {
        kind: "submitted",
        work: newWork(job.id, effect, repeat, needsBaseline && effect !== "stops"),
      });
    },
    withdraw: (job, outcome) => feed(job.queue, { kind: "withdrawn", id: job.id, outcome }),
    abandon(job, outcome) {
      if (!jobs.has(job.id)) return false;
      feed(job.queue, { kind: "sought", id: job.id, outcome });
      return true;
    },
    recover(job, otherwise, canSee) {
      jobs.set(job.id, job);
      const queue = queues.get(job.queue) ?? emptyQueue;
      queues.set(job.queue, { ...queue, recovered: [...queue.recovered, job.id] });
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

/** What is said of a command when the gateway went down before its ending was known. */
export function interrupted(repeatable: boolean): Outcome {
  const message = "the gateway stopped before the service's answer was known; the robot may have acted";
  return outcomeOf("unknown", "OUTCOME_UNKNOWN", message, repeatable);
}
