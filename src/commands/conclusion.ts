import { type Command, commandId, type Effect } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import type { Clock } from "../platform/clock.ts";
import type { Attribution } from "./attribution/attribution.ts";
import type { EvidenceSearch } from "./evidence/evidence-search.ts";
import type { Job } from "./job.ts";
import { isRecorded, type RecordOutcome, sentAtOf } from "./outcome-records.ts";
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
