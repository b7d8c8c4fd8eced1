import type { LoggedCommand } from "../../contracts/command-log.ts";
import type { Source } from "../../domain/command.ts";
import type { ErrorName } from "../../domain/errors.ts";
import type { OutcomeName } from "../../domain/outcome.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { AuditRecord } from "../audit/audit.ts";

/**
 * A command from a record of the audit log; null for a record of anything else, or one that this version
 * cannot read. The names of outcomes and codes are passed on as they are.
 */
export function loggedRecord(record: AuditRecord): Omit<LoggedCommand, "number"> | null {
  if (record.event !== "command") return null;
  const source = sourceOf(record);
  const finalAtMs = timeOf(record.at);
  const { outcome, code, operation } = record;
  if (source === null || finalAtMs === null || typeof operation !== "string") return null;
  if (typeof outcome !== "string" || typeof code !== "string") return null;
  return {
    source,
    requestId: textOf(record.request_id),
    operation,
    robotId: textOf(record.robot_id),
    requestJson: textOf(record.request) || null,
    onBehalfOf: isJsonObject(record.on_behalf_of) ? sourceOf(record.on_behalf_of) : null,
    acceptedAtMs: timeOf(record.accepted_at),
    sentAtMs: timeOf(record.sent_at),
    finalAtMs,
    ending: {
      outcome: outcome as OutcomeName,
      code: code as ErrorName,
      message: textOf(record.message) ?? "",
      missionId: textOf(record.mission_id),
      evidence: textOf(record.evidence),
    },
    foundLater: null,
  };
}

function sourceOf({ protocol, user }: { readonly [field: string]: unknown }): Source | null {
  if (typeof protocol !== "string" || typeof user !== "string") return null;
  return { protocol: protocol as Source["protocol"], name: user };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function timeOf(value: unknown): number | null {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
