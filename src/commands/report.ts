import { type Command, type CommandStage, commandId } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { contentId } from "../platform/json.ts";
import { type CommandTimes, commandRecord, shownRequest } from "./audit/audit.ts";
import type { Job } from "./job.ts";
import type { JournalRecord } from "./journal/journal.ts";
import type { Shared } from "./parts.ts";

/** A command with its outcome. */
export interface FinishedCommand {
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

type ReportParts = Pick<
  Shared,
  "catalogue" | "robot" | "clock" | "sessionId" | "notify" | "audit" | "meter" | "progress"
>;

/** Reports what becomes of commands: to the audit log, the log of commands, the metrics and as events. */
export interface CommandReport {
  /** A command in hand has reached a stage. */
  reached(job: Job, stage: CommandStage): void;
  /** Counts, audits and publishes the end of a command. */
  ended(finished: FinishedCommand, times: CommandTimes): void;
  /** Publishes what was seen of a command after its outcome was final. */
  foundLater(finished: FinishedCommand, text: string): void;
  /** Publishes the event of a command that an earlier run has ended once more. */
  publishAgain(record: JournalRecord): void;
  /** Outcomes since the start, by name. */
  counts(): Readonly<Record<string, number>>;
}

export function createReport({
  catalogue,
  robot,
  clock,
  sessionId,
  notify,
  audit,
  meter,
  progress,
}: ReportParts): CommandReport {
  const counts: Record<string, number> = {};
  let events = 0;

  function reached(job: Job, stage: CommandStage): void {
    if (progress === undefined) return;
    const { command, robotId, record, sentAtMs } = job;
    const { source, requestId, operation, onBehalfOf } = command;
    progress.reached({
      source,
      requestId,
      operation,
      robotId,
      requestJson: shownRequest(catalogue, command, { code: "OK" }) || null,
      onBehalfOf: onBehalfOf?.owner ?? null,
      acceptedAtMs: record?.acceptedAtMs ?? (stage === "accepted" ? clock.nowMs() : null),
      sentAtMs,
    });
  }

  function ended(finished: FinishedCommand, times: CommandTimes): void {
    const { command, robotId, outcome } = finished;
    counts[outcome.outcome] = (counts[outcome.outcome] ?? 0) + 1;
    const request = shownRequest(catalogue, command, outcome);
    audit(commandRecord(command, request, robotId, times, outcome));
    publish(finished, stageReached(times));
    const { protocol } = command.source;
    const { operation } = command;
    const { durationMs } = finished;
    meter?.commandEnded({ protocol, operation, outcome: outcome.outcome, durationMs });
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
    const isKnown = robotId !== null && (finished.wasSent || robot(robotId) !== undefined);
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

  return {
    reached,
    ended,
    foundLater(finished, text) {
      progress?.foundLater(finished.command, text);
      publish(finished, "unknown", text);
    },
    publishAgain,
    counts: () => counts,
  };
}

function stageReached({ sentAtMs, acceptedAtMs }: CommandTimes): CommandFrom {
  if (sentAtMs !== null) return "sent";
  return acceptedAtMs === null ? "received" : "accepted";
}
