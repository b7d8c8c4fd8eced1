import type { Command } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";

/** One line of the audit log: a command and what became of it. snake_case, as everything that is published. */
export interface AuditRecord {
  readonly at: string;
  readonly event: "command" | "lease";
  readonly [field: string]: unknown;
}

/** Where audit records go. Synchronous; never throws. */
export type AuditSink = (record: AuditRecord) => void;

/** Wall times in milliseconds; null for what it never came to. */
export interface CommandTimes {
  readonly acceptedAtMs: number | null;
  readonly sentAtMs: number | null;
  readonly finalAtMs: number;
}

/** The record of a command that has come to its end. */
export function commandRecord(
  command: Command,
  robotId: RobotId | null,
  times: CommandTimes,
  outcome: Outcome,
): AuditRecord {
  return {
    at: new Date(times.finalAtMs).toISOString(),
    event: "command",
    door: command.source.door,
    user: command.source.name,
    address: command.origin?.address ?? null,
    certificate: command.origin?.certificate ?? null,
    request_id: command.requestId,
    operation: command.operation,
    robot_id: robotId,
    request: command.requestJson,
    accepted_at: isoOrNull(times.acceptedAtMs),
    sent_at: isoOrNull(times.sentAtMs),
    outcome: outcome.outcome,
    code: outcome.code,
    message: outcome.message,
    mission_id: outcome.missionId,
    evidence: outcome.evidence,
  };
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
