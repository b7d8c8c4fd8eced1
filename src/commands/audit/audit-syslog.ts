import type { SyslogMessage } from "../../platform/syslog/syslog-message.ts";
import { type AuditRecord, type AuditSink, auditTo } from "./audit.ts";

/** What is shown as structured data too, so that a reader can filter without a parser of JSON. */
const shownFields = ["protocol", "user", "address", "request_id", "operation", "robot_id", "outcome", "code"];
/** Left out of a line that is too long, in this order. The file has them. */
const longFields = ["request", "evidence", "message", "applied", "refused"];
/** Of its text. With header and structured data it stays below what syslog servers take by default (8 KB). */
const LONGEST_BYTES = 5_000;
/** Outcomes that somebody may have to look into. */
const notable = new Set(["refused", "unknown", "expired"]);

/** The key that names the target, and the name under which lines stand there. */
export const auditSyslog = { key: "commands.audit.syslog", app: "fleetgate-audit" };

/** Each record goes to the file, and to syslog where it is configured. */
export function auditTrail(
  gatewayId: string,
  file: { append(line: string): void },
  syslog: { send(message: SyslogMessage): void } | null,
): AuditSink {
  const toFile = auditTo(file);
  if (syslog === null) return toFile;
  return (record) => {
    toFile(record);
    syslog.send(syslogMessage(gatewayId, record));
  };
}

/** The message of a record. */
export function syslogMessage(gatewayId: string, record: AuditRecord): SyslogMessage {
  const fields: Record<string, string> = { gateway: gatewayId };
  for (const name of shownFields) {
    const value = record[name];
    if (typeof value === "string") fields[name] = value;
  }
  return {
    at: record.at,
    severity: typeof record.outcome === "string" && notable.has(record.outcome) ? "warning" : "notice",
    id: record.event,
    fields,
    text: boundedJson(record),
  };
}

function boundedJson(record: AuditRecord): string {
  let shown: Record<string, unknown> = record;
  let text = JSON.stringify(shown);
  const omitted: string[] = [];
  for (const field of longFields) {
    if (Buffer.byteLength(text) <= LONGEST_BYTES) return text;
    if (shown[field] === undefined) continue;
    omitted.push(field);
    shown = { ...shown, [field]: undefined, omitted };
    text = JSON.stringify(shown);
  }
  if (Buffer.byteLength(text) <= LONGEST_BYTES) return text;
  return JSON.stringify({ at: record.at, event: record.event, omitted: ["all other fields"] });
}
