import { type Command, commandId } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Attribution } from "./attribution/attribution.ts";
import type { CommandEvents, FinishedCommand } from "./command-events.ts";
import type { Told } from "./doubt.ts";
import type { EvidenceSearch } from "./evidence/evidence-search.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import type { WatchedJournal } from "./journal/watched-journal.ts";

export interface ConclusionParts {
  readonly journal: Pick<WatchedJournal, "write" | "isWritable">;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: CommandEvents;
  readonly attribution: Attribution;
  readonly search: Pick<EvidenceSearch, "release">;
  /** What is told of what this run has decided. */
  readonly told: Told;
  /** The command is no longer in hand: from now on the journal answers for it. */
  readonly onEnd: (job: Job) => void;
}

/** The end of every command: recorded, told to those who wait, audited, and published. */
export interface Conclusion {
  /** Refuses what never became a job. @returns what is told */
  refuse(command: Command, decided: Outcome): Outcome;
  conclude(job: Job, outcome: Outcome): Promise<void>;
  /** Publishes what was seen of a command after its outcome was final. */
  foundLater(commandId: string, text: string): void;
}

const MAX_UNKNOWN = 256;
/** Characters of a request that a finished record still has: 100,000 records are kept. */
const LONGEST_KEPT_REQUEST = 1_024;

export function createConclusion(parts: ConclusionParts): Conclusion {
  const { journal, clock, log, attribution, events } = parts;
  const unknown = new BoundedMap<string, FinishedCommand>(MAX_UNKNOWN);

  /**
   * Resolves when the outcome is on the disk, so that it is the same after a crash, or when the disk has
   * failed.
   */
  async function record(job: Job, outcome: Outcome, finalAtMs: number): Promise<void> {
    if (!isRecorded(job, outcome)) return;
    const written = journal.write(recordOf(job, outcome, finalAtMs)).catch((error: unknown) => {
      log.error({ err: error, command: job.id }, "an outcome could not be recorded");
    });
    // Nothing was sent, and the disk may hang: its sender does not wait for it once more.
    if (outcome.code !== "JOURNAL_FAILED") await written;
  }

  function claimMissions(job: Job, outcome: Outcome): void {
    if (outcome.missionId !== null) attribution.claim(outcome.missionId, job.command);
    // Of an inferred workflow one mission is known. Its others must not be taken for another client's.
    const mayHaveMade = outcome.outcome === "unknown" || outcome.outcome === "probably_succeeded";
    if (mayHaveMade && job.robotId !== null) attribution.suspect(job.robotId);
    attribution.settle(job);
  }

  return {
    refuse(command, decided) {
      const outcome = parts.told(command.effect, decided);
      const times = { acceptedAtMs: null, sentAtMs: null, finalAtMs: clock.nowMs() };
      events.ended({ command, robotId: command.robotId, outcome }, times);
      return outcome;
    },
    async conclude(job, decided) {
      if (job.isConcluded) return;
      job.isConcluded = true;
      const outcome = parts.told(job.command.effect, decided);
      job.disarm();
      const finished = { command: job.command, robotId: job.robotId, outcome };
      const isUnknown = outcome.outcome === "unknown";
      parts.search.release(job.id, isUnknown);
      claimMissions(job, outcome);
      if (isUnknown) unknown.set(commandId(finished.command), finished);
      const finalAtMs = clock.nowMs();
      await record(job, outcome, finalAtMs);
      parts.onEnd(job);
      const acceptedAtMs = job.record?.acceptedAtMs ?? null;
      events.ended(finished, { acceptedAtMs, sentAtMs: sentAtOf(job), finalAtMs });
      job.settle(outcome);
    },
    foundLater(id, text) {
      const finished = unknown.get(id);
      if (finished === undefined) return;
      unknown.delete(id);
      log.info({ command: id, found: text }, "a command of unknown outcome was seen to have had its effect");
      events.foundLater(finished, text);
    },
  };
}

/**
 * A read may be sent again. A refusal for want of a right, or at the end of this run, does not bind the
 * identity.
 */
function isRecorded(job: Job, { code }: Outcome): boolean {
  if (job.request.effect === "reads") return false;
  return job.record !== null || (code !== "NOT_ALLOWED" && code !== "SHUTTING_DOWN");
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
    // Nothing needs them any more.
    sentJson: "",
    baseline: null,
    outcome,
    ...(job.missionIds.length > 1 ? { missionIds: job.missionIds } : {}),
  };
}

/** The digest tells commands apart. The request is kept for people, and a long one in the audit log only. */
function asKept(command: Command): Command {
  return command.requestJson.length <= LONGEST_KEPT_REQUEST ? command : { ...command, requestJson: "" };
}

/** The record of a command says "sent" before the call is made: it counts only once the call was made. */
function sentAtOf(job: Job): number | null {
  return job.sendings > 0 ? (job.record?.sentAtMs ?? null) : null;
}
