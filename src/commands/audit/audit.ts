import type { CertificateChange } from "../../contracts/client-certificates.ts";
import type { RefusedRequest, SessionChange } from "../../contracts/commander.ts";
import type { Catalogue } from "../../contracts/operation.ts";
import type { FaultChange } from "../../contracts/simulated-faults.ts";
import type { ActFields, ActName } from "../../domain/acts.ts";
import type { Command, OnBehalfOf, Source } from "../../domain/command.ts";
import { clip } from "../../domain/foreign-text.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Health } from "../../platform/component.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { LineFile } from "../../platform/line-file.ts";
import { jsonLine } from "../../platform/plain-text.ts";

/**
 * One line of the audit log: usually a command and its outcome. snake_case, like everything that is
 * published.
 */
export interface AuditRecord {
  readonly at: string;
  readonly event:
    | "command"
    | "lease"
    | "hold"
    | "permit"
    | "alarm"
    | "counters"
    | "reload"
    | "handover"
    | "fence"
    | "session"
    | "certificate"
    | "simulator";
  readonly [field: string]: unknown;
}

/** Takes audit records. Synchronous; never throws. */
export type AuditSink = (record: AuditRecord) => void;

/** Outcomes that somebody may have to look into. */
const notable: ReadonlySet<unknown> = new Set(["refused", "unknown", "expired"]);

/** Writes audit records as lines of JSON: to the file, and to systemd's journal if that is configured. */
export function auditTo(
  file: { append(line: string): void },
  journal: { send(priority: "warning" | "notice", line: string): void } | null,
): AuditSink {
  return (record) => {
    const line = jsonLine(record);
    file.append(line);
    journal?.send(notable.has(record.outcome) ? "warning" : "notice", line);
  };
}

/** Wall times in milliseconds; null for a stage that was not reached. */
export interface CommandTimes {
  readonly acceptedAtMs: number | null;
  readonly sentAtMs: number | null;
  readonly finalAtMs: number;
}

/** Of names that a sender chose and nothing has checked, in characters. */
const LONGEST_NAME = 128;
const LONGEST_OPERATION = 64;
/** Of a request id with the path of its slot, in characters. */
const LONGEST_ID = 256;

/** The record of a command that has ended; `request` has no secrets. */
export function commandRecord(
  command: Command,
  request: string,
  robotId: RobotId | null,
  times: CommandTimes,
  outcome: Outcome,
): AuditRecord {
  return {
    at: new Date(times.finalAtMs).toISOString(),
    event: "command",
    protocol: command.source.protocol,
    user: command.source.name,
    address: command.origin?.address ?? null,
    certificate: command.origin?.certificate ?? null,
    request_id: command.requestId,
    operation: command.operation,
    robot_id: robotId,
    request,
    accepted_at: isoOrNull(times.acceptedAtMs),
    sent_at: isoOrNull(times.sentAtMs),
    outcome: outcome.outcome,
    code: outcome.code,
    message: outcome.message,
    mission_id: outcome.missionId,
    evidence: outcome.evidence,
    ...(command.onBehalfOf === undefined ? {} : { on_behalf_of: behalf(command.onBehalfOf) }),
  };
}

function behalf({ station, owner }: OnBehalfOf) {
  return { ...(station === undefined ? {} : { station }), protocol: owner.protocol, user: owner.name };
}

/** The act in the record of what it has changed. The log of commands takes such a record as a command. */
export function actFields<Name extends ActName>(operation: Name, fields: ActFields<Name>) {
  return { operation, request: JSON.stringify(fields), outcome: "succeeded" };
}

/** The request without its secrets; nothing if it cannot be parsed, because secrets may be anywhere in it. */
export function shownRequest(
  catalogue: Catalogue,
  command: Command,
  { code }: Pick<Outcome, "code">,
): string {
  const operation = catalogue.get(command.operation);
  // A journal may name an operation of another version.
  if (operation === undefined || code === "MALFORMED" || command.requestJson === "") return "";
  return withoutSecrets(command.requestJson, operation.secretMaps);
}

/** A canonical request with stars in place of the values of these maps. */
function withoutSecrets(requestJson: string, paths: readonly (readonly string[])[] = []): string {
  if (paths.length === 0) return requestJson;
  const request: unknown = JSON.parse(requestJson);
  for (const path of paths) {
    let map: unknown = request;
    for (const step of path) map = isJsonObject(map) ? map[step] : undefined;
    if (isJsonObject(map))
      Object.assign(map, Object.fromEntries(Object.keys(map).map((key) => [key, "***"])));
  }
  return JSON.stringify(request);
}

/** The first fields of such a record. */
function beginning<E extends AuditRecord["event"]>(event: E, { protocol, name }: Source, atMs: number) {
  return { at: new Date(atMs).toISOString(), event, protocol, user: clip(name, LONGEST_NAME) };
}

/** The record of a request that a protocol refused, without its content, which may be anything. */
export function refusedRecord(refused: RefusedRequest, atMs: number, outcome: Outcome): AuditRecord {
  const { source, requestId, operation, robotId, origin } = refused;
  return {
    ...beginning("command", source, atMs),
    address: origin?.address ?? null,
    certificate: origin?.certificate ?? null,
    request_id: requestId === null ? null : clip(requestId, LONGEST_ID),
    operation: clip(operation, LONGEST_OPERATION),
    robot_id: robotId === null ? null : clip(robotId, LONGEST_NAME),
    request: null,
    accepted_at: null,
    sent_at: null,
    outcome: outcome.outcome,
    code: outcome.code,
    message: outcome.message,
    mission_id: null,
    evidence: null,
  };
}

/** The record of a session that began or ended. */
export function sessionRecord(session: SessionChange, atMs: number): AuditRecord {
  const { source, address, change, reason } = session;
  return {
    ...beginning("session", source, atMs),
    address,
    operation: change,
    outcome: "succeeded",
    reason,
  };
}

/** The record of a decision on the certificate of a client. */
export function certificateRecord(change: CertificateChange, atMs: number): AuditRecord {
  const { source, address, thumbprint, subject, isTrusted } = change;
  return {
    ...beginning("certificate", source, atMs),
    address,
    operation: isTrusted ? "approve" : "reject",
    outcome: "succeeded",
    thumbprint,
    subject,
  };
}

/** The record of a fault of the simulated fleet service that began or ended. */
export function faultRecord({ source, address, fault, change }: FaultChange, atMs: number): AuditRecord {
  return {
    ...beginning("simulator", source, atMs),
    address,
    operation: change,
    fault: fault.name,
    robot_id: fault.robotId,
    outcome: "succeeded",
  };
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/**
 * Commands go on if the audit log cannot be written: an operator who must not send without a record sees it
 * here.
 */
export function auditHealth(audit: LineFile): Health {
  const problem = audit.problem();
  const figures = { ...audit.figures() };
  if (problem === null) return { state: "up", figures };
  return { state: "degraded", detail: `lines of the audit log are lost: ${problem}`, figures };
}
