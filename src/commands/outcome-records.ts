import type { Command } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import { ChangedMeanwhile } from "../platform/store.ts";
import { noLaterThan } from "../platform/within.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import { withoutRecord } from "./own-refusals.ts";
import type { StopsElsewhere } from "./own-stops.ts";
import type { Shared } from "./parts.ts";

interface OutcomeRecordParts extends Pick<Shared, "journal" | "areRecordsLost" | "shared" | "clock" | "log"> {
  readonly stopsElsewhere: Pick<StopsElsewhere, "repeatFor">;
}

/** Records an outcome. Resolves with the outcome for the sender. */
export type RecordOutcome = (job: Job, outcome: Outcome, finalAtMs: number) => Promise<Outcome>;

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
export function isRecorded(job: Job, { code }: Outcome): boolean {
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
export function sentAtOf({ record, sentAtMs }: Job): number | null {
  return record === null ? null : sentAtMs;
}
