import type { Outcome } from "../../domain/outcome.ts";
import type { Observations } from "../evidence/evidence.ts";
import type { EvidenceSearch } from "../evidence/evidence-search.ts";
import { isWatchRule, watchBaseline } from "../evidence/watch.ts";
import type { IntakeChecks } from "../intake-checks.ts";
import type { Job } from "../job.ts";
import { changedMeanwhile, type JournalRecord } from "../journal/journal.ts";
import type { Shared } from "../parts.ts";
import type { QueueInput } from "./robot-queue.ts";

interface RecordingParts extends Pick<Shared, "options" | "journal" | "shared" | "clock" | "log"> {
  readonly observations: Observations;
  readonly refusalNow: IntakeChecks["refusalNow"];
}

/**
 * Writes the record of a stage. Resolves with the input for the queue of the command; null: the command has
 * left its queue meanwhile.
 *
 * @param isQueued whether it is in its queue still
 * @param late a stop waits no longer
 */
export type RecordStage = (
  job: Job,
  as: "accepted" | "sent",
  isQueued: () => boolean,
  late: () => void,
) => Promise<QueueInput | null>;

const AGAIN_MS = 250;

export function createRecording({
  options,
  journal,
  shared,
  clock,
  log,
  observations,
  refusalNow,
}: RecordingParts): RecordStage {
  const wait = () => new Promise<void>((resolve) => clock.after(AGAIN_MS, resolve));
  return async (job, as, isQueued, late) => {
    const { id } = job;
    const baseline = as === "sent" ? baselineOf(job, observations) : null;
    job.record = recordOf(job, as, clock.nowMs(), baseline);
    if (job.isUnrecorded) return { kind: "record_failed", id, message: "this member does not lead" };
    const isStop = job.request.effect === "stops";
    const cancelLate = isStop ? clock.after(options.stopSyncMs, late) : null;
    let failure = await journal.writeInTime(job.record);
    // A shared journal may be without a majority for a while: until it expires, the command waits for it.
    while (failure !== null && shared !== null && !isStop) {
      if (failure !== changedMeanwhile) await wait();
      if (!isQueued()) return null;
      const outcome = refusalNow(job);
      if (outcome !== null) return { kind: "withdrawn", id, outcome };
      failure = await journal.writeInTime(job.record);
    }
    cancelLate?.();
    if (failure === null) {
      return { kind: "recorded", id, as, refused: as === "sent" ? refusalNow(job) : null };
    }
    const message = failure === changedMeanwhile ? "another member has written its record" : failure;
    log.error({ cause: message, command: id, robotId: job.robotId }, "the journal failed");
    return { kind: "record_failed", id, message };
  };
}

function recordOf(job: Job, as: "accepted" | "sent", nowMs: number, baseline: unknown): JournalRecord {
  const { id, digest, command, queue, robotId, request } = job;
  return {
    id,
    digest,
    command,
    queue,
    robotId,
    acceptedAtMs: job.record?.acceptedAtMs ?? nowMs,
    sentAtMs: as === "sent" ? nowMs : null,
    finalAtMs: null,
    sentJson: request.json,
    baseline,
    outcome: null,
  };
}

/** The state of the robot before the call leaves, so that evidence can be told from what was there. */
function baselineOf({ request: { evidence }, robotId, baseline }: Job, observations: Observations): unknown {
  if (robotId === null) return null;
  if (evidence.kind === "query") return baseline;
  return isWatchRule(evidence) ? watchBaseline(evidence, observations.missions(robotId)) : null;
}

interface SeekingParts extends Pick<Shared, "options" | "shared" | "clock"> {
  readonly search: Pick<EvidenceSearch, "seek">;
  /** Sends the stops again that came while this start was under way. */
  readonly repeatStops: (job: Job) => Promise<unknown>;
}

/**
 * Seeks evidence of a command whose call has no answer. Resolves with its outcome.
 *
 * @param arrivalMs how long its call may still arrive; absent: as long as this run's last call may
 */
export type SeekEvidence = (job: Job, otherwise: Outcome, arrivalMs?: number) => Promise<Outcome>;

export function createSeeking({ options, search, shared, clock, repeatStops }: SeekingParts): SeekEvidence {
  /** A record that is final keeps no other member waiting for a call that may still arrive. */
  function untilArrivalMs({ leftAtMs }: Job): number {
    if (shared === null || leftAtMs === null) return 0;
    return Math.max(0, leftAtMs + options.callDeadlineMs - clock.monotonicMs());
  }

  return async (job, otherwise, arrivalMs = untilArrivalMs(job)) => {
    const { id, request } = job;
    const baseline = job.record?.baseline ?? job.baseline;
    const arrived = arrivalMs === 0 ? null : new Promise<void>((resolve) => clock.after(arrivalMs, resolve));
    const outcome = await search.seek(id, request.evidence, baseline, otherwise);
    if (outcome === otherwise && arrived !== null) await arrived;
    // Before the next start leaves, which they would undo.
    job.stopsOwed.push(...job.stopsSince.splice(0));
    if (job.stopsOwed.length > 0) await repeatStops(job);
    return outcome;
  };
}
