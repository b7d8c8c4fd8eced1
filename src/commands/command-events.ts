import type { RobotSummary } from "../contracts/fleet-view.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { Command, CommandIdentity } from "../domain/command.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Clock } from "../platform/clock.ts";
import { type AuditSink, type CommandTimes, commandRecord, shownRequest } from "./audit/audit.ts";

export interface CommandEventParts {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** Where the outcome of every command goes as an event. Synchronous; never throws. */
  readonly notify: (event: FleetEvent) => void;
  readonly audit: AuditSink;
  /** The robot with its quality of this moment; undefined when it was never heard of. */
  readonly robot: (robotId: RobotId) => RobotSummary | undefined;
}

/** A command that has its outcome. */
export interface FinishedCommand {
  readonly command: Command;
  readonly robotId: RobotId | null;
  readonly outcome: Outcome;
}

/** Audits, counts and publishes the ends of commands. */
export interface CommandEvents {
  ended(ended: FinishedCommand, times: CommandTimes): void;
  /** Something was found after the outcome was final. */
  foundLater(ended: FinishedCommand, text: string): void;
  /** Outcomes since the start, by name. */
  counts(): Readonly<Record<string, number>>;
}

type CommandFrom = Extract<FleetEvent, { kind: "command" }>["from"];

export function createCommandEvents(parts: CommandEventParts): CommandEvents {
  const counts: Record<string, number> = {};
  let events = 0;

  /** A sender may name a robot that does not exist: its events must not look like those of a robot. */
  const isKnown = (robotId: RobotId | null) => robotId !== null && parts.robot(robotId) !== undefined;

  function publish(
    { command, robotId, outcome }: FinishedCommand,
    from: CommandFrom,
    foundLater?: string,
  ): void {
    events += 1;
    parts.notify({
      kind: "command",
      eventId: `${parts.sessionId}.c${events}`,
      robotId: robotId !== null && isKnown(robotId) ? robotId : "",
      atMs: parts.clock.nowMs(),
      command: identityOf(command),
      operation: command.operation,
      from,
      outcome,
      ...(foundLater === undefined ? {} : { foundLater }),
    });
  }

  return {
    ended(ended, times) {
      const { command, robotId, outcome } = ended;
      counts[outcome.outcome] = (counts[outcome.outcome] ?? 0) + 1;
      const request = shownRequest(parts.catalogue, command, outcome);
      parts.audit(commandRecord(command, request, robotId, times, outcome));
      publish(ended, reached(times));
    },
    foundLater: (ended, text) => publish(ended, "unknown", text),
    counts: () => counts,
  };
}

function reached({ sentAtMs, acceptedAtMs }: CommandTimes): CommandFrom {
  if (sentAtMs !== null) return "sent";
  return acceptedAtMs === null ? "received" : "accepted";
}

/** Not the command itself, whose request may be long: events may wait for a broker. */
function identityOf({ source, requestId }: Command): CommandIdentity {
  return { source, requestId };
}
