import { type Command, commandId, type Effect } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import type { Clock } from "../platform/clock.ts";
import { contentId } from "../platform/json.ts";
import { noLaterThan } from "../platform/within.ts";
import type { Attribution } from "./attribution/attribution.ts";
import { type CommandTimes, commandRecord, shownRequest } from "./audit/audit.ts";
import type { EvidenceSearch } from "./evidence/evidence-search.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import { withoutRecord } from "./own-refusals.ts";
import type { Shared } from "./parts.ts";

export interface ConclusionParts
  extends Pick<
    Shared,
    | "catalogue"
    | "clock"
    | "log"
    | "sessionId"
    | "areRecordsLost"
    | "journal"
    | "running"
    | "audit"
    | "robot"
    | "meter"
    | "progress"
    | "notify"
  > {
  readonly attribution: Attribution;
  readonly search: Pick<EvidenceSearch, "release">;
}

/** Ends every command: records the outcome, gives it to waiting senders, audits, counts and publishes it. */
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
  /** Publishes the event of a command that an earlier run has ended once more. */
  publishAgain(record: JournalRecord): void;
  /** Publishes what was seen of a command after its outcome was final. */
  foundLater(commandId: string, text: string): void;
  /** Outcomes since the start, by name. */
  counts(): Readonly<Record<string, number>>;
}

/** A command with its outcome. */
interface FinishedCommand {
  readonly command: Command;
  readonly robotId: RobotId | null;
  readonly outcome: Outcome;
  /** When it ended, if the journal has it: the id of its event depends on it. */
  readonly recordedAtMs: number | null;
  readonly wasSent: boolean;
  /** From its acceptance; null: this run has not both accepted and sent it. */
  readonly durationMs: number | null;
}

type CommandFrom = Extract<FleetEvent, { kind: "command" }>["from"];

const MAX_UNKNOWN = 256;
/** A disk that hangs must not delay a reply for longer. */
const RECORDED_WITHIN_MS = 5_000;
/** How many characters of its request a finished record keeps: 100,000 records are kept. */
const LONGEST_KEPT_REQUEST = 1_024;

export function createConclusion(parts: ConclusionParts): Conclusion {
  const { clock, log, attribution, areRecordsLost = false } = parts;
  const unknown = new BoundedMap<string, FinishedCommand>(MAX_UNKNOWN);
  const { report, publish, publishAgain, counts } = createReport(parts);

  /**
   * While records are lost, this run knows only that it has not sent a command: an earlier run may have. With
   * "not done" its sender would do it twice.
   */
  function reported(effect: Effect, decided: Outcome): Outcome {
    const mayActTwice = effect === "moves" || effect === "changes";
    const isNotDone = decided.outcome === "refused" || decided.outcome === "expired";
    return areRecordsLost && mayActTwice && isNotDone ? withDoubt(decided) : decided;
  }

  /**
   * Resolves when the outcome is on the disk, so that it is the same after a crash, or when the disk has
   * failed or not answered for five seconds.
   *
   * @returns the outcome for the sender
   */
  async function record(job: Job, outcome: Outcome, finalAtMs: number): Promise<Outcome> {
    if (!isRecorded(job, outcome)) return outcome;
    const unwritten = withoutRecord(outcome, job.command.effect, areRecordsLost);
    const written = parts.journal.write(recordOf(job, outcome, finalAtMs)).then(
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
      report(finished, times);
      return outcome;
    },
    async conclude(job, decided) {
      if (job.isConcluded) return;
      job.isConcluded = true;
      const { command, robotId } = job;
      const final = reported(command.effect, decided);
      const finalAtMs = clock.nowMs();
      const recordedAtMs = isRecorded(job, final) ? finalAtMs : null;
      const wasSent = job.sendings > 0;
      const durationMs = wasSent ? durationOf(job, clock) : null;
      const finished = { command, robotId, outcome: final, recordedAtMs, wasSent, durationMs };
      job.disarm();
      const isUnknown = final.outcome === "unknown";
      parts.search.release(job.id, isUnknown);
      claimMissions(job, final);
      if (isUnknown) unknown.set(commandId(command), finished);
      const outcome = await record(job, final, finalAtMs);
      parts.running.delete(job.id);
      report(
        { ...finished, outcome },
        { acceptedAtMs: job.record?.acceptedAtMs ?? null, sentAtMs: sentAtOf(job), finalAtMs },
      );
      job.settle(outcome);
    },
    publishAgain,
    foundLater(id, text) {
      const finished = unknown.get(id);
      if (finished === undefined) return;
      unknown.delete(id);
      const { robotId } = finished;
      log.info(
        { command: id, robotId, found: text },
        "a command of unknown outcome was seen to have had its effect",
      );
      parts.progress?.foundLater(finished.command, text);
      publish(finished, "unknown", text);
    },
    counts: () => counts,
  };
}

/** Counts, audits and publishes the ends of commands. */
function createReport({ clock, sessionId, notify, ...parts }: ConclusionParts) {
  const counts: Record<string, number> = {};
  let events = 0;

  function report(finished: FinishedCommand, times: CommandTimes): void {
    const { command, robotId, outcome } = finished;
    counts[outcome.outcome] = (counts[outcome.outcome] ?? 0) + 1;
    const request = shownRequest(parts.catalogue, command, outcome);
    parts.audit(commandRecord(command, request, robotId, times, outcome));
    publish(finished, stageReached(times));
    const { protocol } = command.source;
    const { operation } = command;
    const { durationMs } = finished;
    parts.meter?.commandEnded({ protocol, operation, outcome: outcome.outcome, durationMs });
  }

  /** The same for every run that publishes it; if the journal does not have it, no other run publishes it. */
  function idOf({ command, recordedAtMs }: FinishedCommand, later?: string): string {
    events += 1;
    if (recordedAtMs === null || later !== undefined) return `${sessionId}.c${events}`;
    return contentId("command", commandId(command), recordedAtMs);
  }

  function publish(finished: FinishedCommand, from: CommandFrom, later?: string): void {
    const { command, robotId, outcome, recordedAtMs } = finished;
    const { source, requestId, operation } = command;
    // A sender may name a robot that does not exist: its events must not look like those of a robot.
    const isKnown = robotId !== null && (finished.wasSent || parts.robot(robotId) !== undefined);
    const event: FleetEvent = {
      kind: "command",
      eventId: idOf(finished, later),
      robotId: isKnown ? robotId : "",
      atMs: later === undefined && recordedAtMs !== null ? recordedAtMs : clock.nowMs(),
      // The identity only, because a request may be long and events may wait for a broker.
      command: { source, requestId },
      operation,
      from,
      outcome,
      ...(later === undefined ? {} : { foundLater: later }),
    };
    notify(event);
  }

  function publishAgain(record: JournalRecord): void {
    const { command, robotId, outcome, acceptedAtMs, sentAtMs, finalAtMs } = record;
    if (outcome === null || finalAtMs === null) return;
    const wasSent = sentAtMs !== null;
    const finished = { command, robotId, outcome, recordedAtMs: finalAtMs, wasSent, durationMs: null };
    // A command that was refused on receipt has both times at once.
    const wasAccepted = acceptedAtMs !== finalAtMs;
    publish(finished, stageReached({ sentAtMs, acceptedAtMs: wasAccepted ? acceptedAtMs : null, finalAtMs }));
  }

  return { report, publish, publishAgain, counts };
}

const unsent = { wasSent: false, durationMs: null } as const;

function durationOf({ acceptedAtMonotonicMs }: Job, clock: Clock): number | null {
  return acceptedAtMonotonicMs === null ? null : clock.monotonicMs() - acceptedAtMonotonicMs;
}

function withDoubt(outcome: Outcome): Outcome {
  const message = `${outcome.message}; whether it was sent before is not known, for the records are lost: look first`;
  return { ...outcome, outcome: "unknown", message, retrySafe: false };
}

function stageReached({ sentAtMs, acceptedAtMs }: CommandTimes): CommandFrom {
  if (sentAtMs !== null) return "sent";
  return acceptedAtMs === null ? "received" : "accepted";
}

/**
 * A read may be sent again. A refusal for a missing right, or at the end of this run, does not bind the
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

/** The record of a command says "sent" before the call is made: it counts only once the call was made. */
function sentAtOf(job: Job): number | null {
  return job.sendings > 0 ? (job.record?.sentAtMs ?? null) : null;
}
