import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { FleetNotice } from "../domain/change.ts";
import { clip } from "../domain/clip.ts";
import { type Command, commandId } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { LONGEST_REQUEST_ID } from "./admission.ts";
import type { Attribution } from "./attribution/attribution.ts";
import {
  type AuditSink,
  type CommandTimes,
  commandRecord,
  LONGEST_OPERATION,
  shownRequest,
} from "./audit/audit.ts";
import type { EvidenceSearch } from "./evidence/evidence-search.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import type { WatchedJournal } from "./journal/watched-journal.ts";

export interface ConclusionParts {
  readonly catalogue: Catalogue;
  readonly journal: Pick<WatchedJournal, "write" | "isWritable">;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessionId: string;
  readonly notify: (notice: FleetNotice) => void;
  readonly audit: AuditSink;
  readonly attribution: Attribution;
  readonly search: EvidenceSearch;
  /** The robot with its quality of this moment; undefined when it was never heard of. */
  readonly robot: (robotId: RobotId) => RobotSummary | undefined;
  /** The command is no longer in hand: from now on the journal answers for it. */
  readonly onEnd: (job: Job) => void;
}

/** The end of every command: recorded, told to those who wait, audited, and published. */
export interface Conclusion {
  /** Refuses what never became a job. */
  refuse(command: Command, outcome: Outcome): Promise<Outcome>;
  conclude(job: Job, outcome: Outcome): Promise<void>;
  /** Tells what was seen of a command after its outcome was final. */
  foundLater(commandId: string, text: string): void;
  /** Outcomes since the start, by name. */
  counts(): Readonly<Record<string, number>>;
}

/** Enough of an ended command to tell an event about it. */
interface Ended {
  readonly command: Command;
  readonly robotId: RobotId | null;
  readonly outcome: Outcome;
}

type CommandFrom = Extract<FleetNotice, { kind: "command" }>["from"];

const MAX_UNKNOWN = 256;
/** Characters of a request that a finished record still has: 100,000 records are kept, whoever sent them. */
const LONGEST_KEPT_REQUEST = 1_024;

export function createConclusion(parts: ConclusionParts): Conclusion {
  const { journal, clock, log, attribution, search } = parts;
  const unknown = new Map<string, Ended>();
  const counts: Record<string, number> = {};
  let events = 0;

  /** A sender may name any robot there is not: it gets no place of its own among those that there are. */
  function isKnown(robotId: RobotId | null): robotId is RobotId {
    return robotId !== null && parts.robot(robotId) !== undefined;
  }

  function publish({ command, robotId, outcome }: Ended, from: CommandFrom, foundLater?: string): void {
    events += 1;
    parts.notify({
      kind: "command",
      eventId: `${parts.sessionId}.c${events}`,
      robotId: isKnown(robotId) ? robotId : "",
      atMs: clock.nowMs(),
      commandId: commandId(command),
      operation: command.operation,
      from,
      outcome,
      ...(foundLater === undefined ? {} : { foundLater }),
    });
  }

  function tell(ended: Ended, times: CommandTimes): void {
    const { command, robotId, outcome } = ended;
    counts[outcome.outcome] = (counts[outcome.outcome] ?? 0) + 1;
    const request = shownRequest(parts.catalogue, command, outcome);
    parts.audit(commandRecord(command, request, robotId, times, outcome));
    publish(ended, times.sentAtMs !== null ? "sent" : times.acceptedAtMs !== null ? "accepted" : "received");
  }

  /** Resolves when the outcome is on the disk, so that it is the same after a crash; a broken disk is not waited for. */
  async function recordEnd(job: Job, outcome: Outcome, finalAtMs: number): Promise<void> {
    const isOpenEnded = outcome.code === "NOT_ALLOWED" || outcome.code === "SHUTTING_DOWN";
    if (job.request.effect === "reads" || (job.record === null && isOpenEnded)) return;
    const entry: JournalRecord = {
      id: job.id,
      digest: job.digest,
      command: asKept(job.command),
      queue: job.queue,
      robotId: job.robotId,
      acceptedAtMs: job.record?.acceptedAtMs ?? finalAtMs,
      sentAtMs: sentAtOf(job),
      finalAtMs,
      // Both have served: without them, a finished entry is small.
      sentJson: "",
      baseline: null,
      outcome,
      ...(job.missionIds.length > 1 ? { missionIds: job.missionIds } : {}),
    };
    const written = journal.write(entry).catch((error: unknown) => {
      log.error({ err: error, command: job.id }, "an outcome could not be recorded");
    });
    // Nothing was sent, and the disk that failed may hang: its sender need not wait for it once more.
    if (outcome.code !== "JOURNAL_FAILED") await written;
  }

  function claimMissions(job: Job, outcome: Outcome): void {
    if (outcome.missionId !== null) attribution.claim(outcome.missionId, job.id);
    // Of an inferred workflow one mission is known, and its others are nobody else's.
    const mayHaveMade = outcome.outcome === "unknown" || outcome.outcome === "probably_succeeded";
    if (mayHaveMade && job.robotId !== null) attribution.suspect(job.robotId);
    attribution.settle(job);
  }

  function remember(ended: Ended): void {
    unknown.set(commandId(ended.command), ended);
    if (unknown.size <= MAX_UNKNOWN) return;
    for (const oldest of unknown.keys()) {
      unknown.delete(oldest);
      return;
    }
  }

  return {
    refuse(command, outcome) {
      const times = { acceptedAtMs: null, sentAtMs: null, finalAtMs: clock.nowMs() };
      tell({ command: clipped(command), robotId: command.robotId, outcome }, times);
      return Promise.resolve(outcome);
    },
    async conclude(job, outcome) {
      if (job.isConcluded) return;
      job.isConcluded = true;
      job.disarm();
      const { command, robotId } = job;
      const isUnknown = outcome.outcome === "unknown";
      search.release(job.id, isUnknown);
      claimMissions(job, outcome);
      if (isUnknown) remember({ command, robotId, outcome });
      const finalAtMs = clock.nowMs();
      await recordEnd(job, outcome, finalAtMs);
      parts.onEnd(job);
      const times = { acceptedAtMs: job.record?.acceptedAtMs ?? null, sentAtMs: sentAtOf(job), finalAtMs };
      tell({ command, robotId, outcome }, times);
      job.settle(outcome);
    },
    foundLater(id, text) {
      const ended = unknown.get(id);
      if (ended === undefined) return;
      unknown.delete(id);
      log.info(
        { command: id, found: text },
        "a command whose outcome is unknown was seen to have had its effect",
      );
      publish(ended, "unknown", text);
    },
    counts: () => counts,
  };
}

/** What was refused need not have the bounds of a command: names are for people here, and name no record. */
function clipped(command: Command): Command {
  const { requestId, operation } = command;
  return {
    ...command,
    requestId: clip(requestId, LONGEST_REQUEST_ID),
    operation: clip(operation, LONGEST_OPERATION),
  };
}

/** The digest is what tells a command from another; its request is for people, and a long one for the audit log alone. */
function asKept(command: Command): Command {
  return command.requestJson.length <= LONGEST_KEPT_REQUEST ? command : { ...command, requestJson: "" };
}

/** A record that it was sent is written before it is: it counts only when the call was made. */
function sentAtOf(job: Job): number | null {
  return job.sendings > 0 ? (job.record?.sentAtMs ?? null) : null;
}
