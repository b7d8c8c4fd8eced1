import type { CertificateAudit } from "../../contracts/client-certificates.ts";
import type { Envelope, RefusalAudit, RefusedRequest, SessionAudit } from "../../contracts/commander.ts";
import type { Meter } from "../../contracts/metrics.ts";
import type { FaultAudit } from "../../contracts/simulated-faults.ts";
import { clip } from "../../domain/foreign-text.ts";
import { idStands, type Outcome } from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createLineBudget } from "../../platform/log-bounds.ts";
import {
  type AuditSink,
  certificateRecord,
  faultRecord,
  refusedRecord,
  sessionRecord,
} from "../audit/audit.ts";
import type { Execution, KnownCommand, ReadRequest } from "./request.ts";

/** An envelope with its identity, and its request as far as it could be read. */
export interface Opened {
  readonly envelope: Envelope;
  /** As in the journal: with its scope. */
  readonly requestId: string;
  readonly id: string;
  readonly read: ReadRequest | Outcome;
  /** The earlier command of the same identity. */
  readonly known: KnownCommand | null;
}

/**
 * Writes refusals to the log and the audit log; sessions, decisions on certificates and simulated faults to
 * the audit log.
 */
export interface Refusals extends RefusalAudit, SessionAudit, CertificateAudit, FaultAudit {
  /**
   * Refuses a message that is no command yet. An earlier command of the same identity must not look undone.
   */
  refuse(opened: Opened, reason: Outcome): Outcome;
  /** The same for the sender alone: neither logged nor audited. */
  answer(opened: Opened, reason: Outcome): Outcome;
  /** Refusals since the start. */
  count(): number;
}

const LOG_BOUNDS = { most: 10, windowMs: 1_000 };
/** Of names that senders choose, in characters. */
const LONGEST_NAME = 128;

export function createRefusals(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: AuditSink;
  readonly meter?: Pick<Meter, "commandEnded">;
  readonly execution: Pick<Execution, "reported">;
}): Refusals {
  const logRefused = createRefusalLog(parts.clock, parts.log);
  let count = 0;

  const refused: Refusals["refused"] = (request, outcome) => {
    count += 1;
    if (request.isLogged !== true) logRefused(request, outcome);
    parts.audit(refusedRecord(request, parts.clock.nowMs(), outcome));
    const { operation, source } = request;
    const ended = { protocol: source.protocol, operation, outcome: outcome.outcome, durationMs: null };
    parts.meter?.commandEnded(ended);
  };

  function answer({ read, known }: Opened, reason: Outcome): Outcome {
    if (known !== null) return idStands(reason);
    // A message that could not be read names no command that may have been sent.
    return "request" in read ? parts.execution.reported(read.request.effect, reason) : reason;
  }

  return {
    refused,
    session: (change) => parts.audit(sessionRecord(change, parts.clock.nowMs())),
    certificate: (change) => parts.audit(certificateRecord(change, parts.clock.nowMs())),
    fault(change) {
      const { fault, change: operation } = change;
      parts.audit(faultRecord(change, parts.clock.nowMs()));
      parts.log.info({ operation, fault: fault.name, robot: fault.robotId }, "a simulated fault");
    },
    answer,
    refuse(opened, reason) {
      const { envelope, requestId, read } = opened;
      const { source, operation, calledOn = null, origin } = envelope;
      const outcome = answer(opened, reason);
      const robotId = "outcome" in read ? calledOn : read.request.robotId;
      const id = envelope.requestId === null ? null : requestId;
      const request = { source, requestId: id, operation, robotId };
      refused(origin === undefined ? request : { ...request, origin }, outcome);
      return outcome;
    },
    count: () => count,
  };
}

/** The fields that name a command in a log line. Its sender chose the texts. */
export function logNames({
  source,
  operation,
  requestId,
}: Pick<RefusedRequest, "source" | "operation" | "requestId">) {
  return {
    protocol: source.protocol,
    user: clip(source.name, LONGEST_NAME),
    operation: clip(operation, LONGEST_NAME),
    id: requestId === null ? null : clip(requestId, LONGEST_NAME),
  };
}

/** Logs refusals, at most ten a second: a client that sends rubbish must not fill the disk. */
function createRefusalLog(clock: Clock, log: Log): (request: RefusedRequest, outcome: Outcome) => void {
  const budget = createLineBudget(clock, LOG_BOUNDS, (count) =>
    log.warn({ count }, "more commands were refused within a second than the log names"),
  );
  return (request, { code, message: reason }) => {
    if (budget.take()) log.warn({ ...logNames(request), code, reason }, "a command was refused");
  };
}
