import { type Command, commandId, type Effect } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { type Clock, noLaterThan } from "../platform/clock.ts";
import { ChangedMeanwhile } from "../platform/store.ts";
import type { Attribution } from "./attribution/attribution.ts";
import type { EvidenceSearch } from "./evidence/evidence-search.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import { withoutRecord } from "./own-refusals.ts";
import type { StopsElsewhere } from "./own-stops.ts";
import type { Shared } from "./parts.ts";
import type { CommandReport, FinishedCommand } from "./report.ts";

interface ConclusionParts extends Pick<Shared, "areRecordsLost" | "running" | "clock" | "log"> {
  readonly attribution: Attribution;
  readonly search: Pick<EvidenceSearch, "release">;
  readonly report: Pick<CommandReport, "ended" | "foundLater">;
  readonly record: RecordOutcome;
}

/** Ends every command: records the outcome, gives it to waiting senders, and reports it. */
export interface Conclusion {
  /** The outcome for a command of this effect, as its sender, the audit log and the event get it. */
  reported(effect: Effect, decided: Outcome): Outcome;
  /**
   * Refuses a command that never became a job.
   *
   * @returns the outcome for the sender
   */
  refuse(command: Command, decided: Outcome): Outcome;
  conclude(job: Job, decided: Outcome): Promise<void>;
  /** Publishes what was seen of a command after its outcome was final. */
  foundLater(commandId: string, text: string): void;
}

const MAX_UNKNOWN = 256;

export function createConclusion({
  areRecordsLost,
  running,
  clock,
  log,
  attribution,
  search,
  report,
  record,
}: ConclusionParts): Conclusion {
  const unknown = new BoundedMap<string, FinishedCommand>(MAX_UNKNOWN);

  /**
   * While records are lost, this run knows only that it has not sent a command: an earlier run may have. With
   * "not done" its sender would do it twice.
   */
  function reported(effect: Effect, decided: Outcome): Outcome {
    const mayActTwice = effect === "moves" || effect === "changes";
    const isNotDone = decided.outcome === "refused" || decided.outcome === "expired";
    return areRecordsLost && mayActTwice && isNotDone ? withDoubt(decided) : decided;
  }

  function claimMissions(job: Job, outcome: Outcome): void {
    if (outcome.missionId !== null) attribution.claim(outcome.missionId, job.command);
    // Evidence of a workflow names one of its missions. The others must not be taken for another client's.
    const mayHaveMade = outcome.outcome === "unknown" || outcome.outcome === "probably_succeeded";
    if (mayHaveMade && job.robotId !== null) attribution.suspect(job.robotId);
    attribution.settle(job);
  }

  return {
    reported,
    refuse(command, decided) {
      const outcome = reported(command.effect, decided);
      const times = { acceptedAtMs: null, sentAtMs: null, finalAtMs: clock.nowMs() };
      const finished = { command, robotId: command.robotId, outcome, recordedAtMs: null, ...unsent };
      report.ended(finished, times);
      return outcome;
    },
    async conclude(job, decided) {
      if (job.isConcluded) return;
      job.isConcluded = true;
      const { command, robotId } = job;
      const final = reported(command.effect, decided);
      const finalAtMs = clock.nowMs();
      const recordedAtMs = isRecorded(job, final) ? finalAtMs : null;
      const wasSent = job.sentAtMs !== null;
      const durationMs = wasSent ? durationOf(job, clock) : null;
      const finished = { command, robotId, outcome: final, recordedAtMs, wasSent, durationMs };
      job.disarm();
      const isUnknown = final.outcome === "unknown";
      search.release(job.id, isUnknown);
      claimMissions(job, final);
      if (isUnknown) unknown.set(commandId(command), finished);
      const outcome = await record(job, final, finalAtMs);
      if (running.get(job.id) === job) running.delete(job.id);
      report.ended(
        { ...finished, outcome },
        { acceptedAtMs: job.record?.acceptedAtMs ?? null, sentAtMs: sentAtOf(job), finalAtMs },
      );
      job.settle(outcome);
    },
    foundLater(id, text) {
      const finished = unknown.get(id);
      if (finished === undefined) return;
      unknown.delete(id);
      const { robotId } = finished;
      log.info(
        { command: id, robotId, found: text },
        "a command of unknown outcome was seen to have had its effect",
      );
      report.foundLater(finished, text);
    },
  };
}

const unsent = { wasSent: false, durationMs: null } as const;

function durationOf({ acceptedAtMonotonicMs }: Job, clock: Clock): number | null {
  return acceptedAtMonotonicMs === null ? null : clock.monotonicMs() - acceptedAtMonotonicMs;
}

function withDoubt(outcome: Outcome): Outcome {
  const message = `${outcome.message}; whether it was sent before is not known, for the records are lost: look first`;
  return { ...outcome, outcome: "unknown", message, retrySafe: false };
}

interface OutcomeRecordParts extends Pick<Shared, "journal" | "areRecordsLost" | "shared" | "clock" | "log"> {
  readonly stopsElsewhere: Pick<StopsElsewhere, "repeatFor">;
}

/** Records an outcome. Resolves with the outcome for the sender. */
type RecordOutcome = (job: Job, outcome: Outcome, finalAtMs: number) => Promise<Outcome>;

/** A disk that hangs must not delay a reply for longer. */
const RECORDED_WITHIN_MS = 5_000;
const AGAIN_MS = 250;
/** How many characters of its request a finished record keeps: 100,000 records are kept. */
const LONGEST_KEPT_REQUEST = 1_024;

export function createOutcomeRecords({
  journal,
  areRecordsLost,
  shared,
  clock,
  log,
  stopsElsewhere,
}: OutcomeRecordParts): RecordOutcome {
  /**
   * Resolves when the outcome is on the disk, so that it is the same after a crash, or when the disk has
   * failed or not answered for five seconds.
   *
   * @returns the outcome for the sender
   */
  async function record(job: Job, outcome: Outcome, finalAtMs: number): Promise<Outcome> {
    if (!isRecorded(job, outcome)) return outcome;
    if (job.isUnrecorded) return withoutRecord(outcome, job.command.effect, areRecordsLost);
    if (shared !== null && job.request.effect !== "stops") return recordForAll(job, outcome, finalAtMs);
    const unwritten = withoutRecord(outcome, job.command.effect, areRecordsLost);
    const written = journal.write(recordOf(job, outcome, finalAtMs)).then(
      () => outcome,
      (error: unknown) => {
        log.error({ err: error, command: job.id, robotId: job.robotId }, "an outcome could not be recorded");
        return unwritten;
      },
    );
    // Nothing was sent, and the disk may hang: the sender does not wait for it again.
    if (outcome.code === "JOURNAL_FAILED") return outcome;
    return noLaterThan(clock, RECORDED_WITHIN_MS, written, unwritten);
  }

  /**
   * Another member tells what is recorded, so nothing else may be told: resolves when it is recorded. If
   * another member leads meanwhile, that one concludes the command, and this never resolves. A start that a
   * stop is owed for keeps its record, without an outcome, for the next leader.
   */
  async function recordForAll(job: Job, outcome: Outcome, finalAtMs: number): Promise<Outcome> {
    for (;;) {
      if (!(await stopsElsewhere.repeatFor(job)))
        return withoutRecord(outcome, job.command.effect, areRecordsLost);
      try {
        await journal.write(recordOf(job, outcome, finalAtMs));
        return outcome;
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile))
          log.warn({ err: error, command: job.id, robotId: job.robotId }, "an outcome is not recorded yet");
      }
      await new Promise<void>((resolve) => clock.after(AGAIN_MS, resolve));
    }
  }

  return record;
}

/**
 * A read may be sent again. A refusal for a missing right, at the end of this run, or by a standby does not
 * bind the identity.
 */
function isRecorded(job: Job, { code }: Outcome): boolean {
  if (job.request.effect === "reads") return false;
  return job.record !== null || !["NOT_ALLOWED", "SHUTTING_DOWN", "STANDBY"].includes(code);
}

function recordOf(job: Job, outcome: Outcome, finalAtMs: number): JournalRecord {
  return {
    id: job.id,
    digest: job.digest,
    command: asKept(job.command),
    queue: job.queue,
    robotId: job.robotId,
    acceptedAtMs: job.record?.acceptedAtMs ?? finalAtMs,
    sentAtMs: sentAtOf(job),
    finalAtMs,
    // No longer needed.
    sentJson: "",
    baseline: null,
    outcome,
    ...(job.missionIds.length > 1 ? { missionIds: job.missionIds } : {}),
  };
}

/** The digest tells commands apart. The request is kept for people; a long one is in the audit log only. */
function asKept(command: Command): Command {
  return command.requestJson.length <= LONGEST_KEPT_REQUEST ? command : { ...command, requestJson: "" };
}

/** When its first call left. The record says "sent" earlier, before any call. A read has no times. */
function sentAtOf({ record, sentAtMs }: Job): number | null {
  return record === null ? null : sentAtMs;
}
