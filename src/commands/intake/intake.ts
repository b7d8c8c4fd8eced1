import type { CertificateAudit } from "../../contracts/client-certificates.ts";
import type { Commander, Envelope, RefusalAudit, SessionAudit } from "../../contracts/commander.ts";
import type { Meter } from "../../contracts/metrics.ts";
import type { Catalogue, ParsedRequest } from "../../contracts/operation.ts";
import type { FaultAudit } from "../../contracts/simulated-faults.ts";
import { type Command, type CommandStage, commandId } from "../../domain/command.ts";
import {
  askedTooOften,
  checked,
  identityReused,
  isRequestId,
  type Outcome,
  refusal,
  requestIdFault,
  tooManyAsk,
} from "../../domain/outcome.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Live } from "../../platform/live.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { AuditSink } from "../audit/audit.ts";
import { digestOf } from "../job.ts";
import type { IntakeOptions, Rights } from "../options.ts";
import { failed, fault, shuttingDown, unreadable } from "../own-refusals.ts";
import { refusedRequest, rightsAnywhere } from "../rights.ts";
import { createInFlight, createRateLimits } from "./bounds.ts";
import { createRefusals, logNames, type Opened } from "./refusals.ts";
import { type Execution, type KnownCommand, type ReadRequest, readRequest } from "./request.ts";

/** The dependencies of the intake. */
export interface IntakeParts {
  readonly options: IntakeOptions;
  readonly rights: Live<Rights>;
  readonly catalogue: Catalogue;
  readonly execution: Execution;
  readonly audit: AuditSink;
  readonly meter?: Pick<Meter, "commandEnded">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks every command before the dispatcher gets it, whatever its protocol. */
export interface Intake extends Commander, RefusalAudit, SessionAudit, CertificateAudit, FaultAudit {
  figures(): Readonly<Record<string, number>>;
}

type OnStage = (stage: CommandStage) => void;

export function createIntake(parts: IntakeParts): Intake {
  const { options, rights, execution, clock, log } = parts;
  const anywhere = rightsAnywhere(rights);
  const inFlight = createInFlight(options, log);
  const rateLimits = createRateLimits(options.rates, clock);
  const { refuse, refused, session, certificate, fault: simulated, answer, count } = createRefusals(parts);

  function take(envelope: Envelope, onStage: OnStage | undefined): Promise<Outcome> | Outcome {
    const { source, scope } = envelope;
    const hasId = isRequestId(envelope.requestId);
    const ownId = envelope.requestId ?? "";
    const requestId = scope === undefined ? ownId : `${scope}/${ownId}`;
    const id = commandId({ source, requestId });
    const isClosed = execution.isClosed();
    const read = readOnce(parts, envelope);
    const known = hasId && !isClosed ? find(parts, id, isStop(read)) : null;
    const opened: Opened = { envelope, requestId, id, read, known };
    if (isClosed) return hasId ? unreadable() : refuse(opened, shuttingDown());
    const overRate = isStop(read) ? null : rateLimits.take(source);
    if (overRate !== null) {
      if (known !== null) return askedTooOften;
      return (overRate.isReported ? refuse : answer)(opened, overRate.outcome);
    }
    const problem = envelopeProblem(envelope, hasId, known !== null);
    if (problem !== null) return refuse(opened, problem);
    if ("outcome" in read) return refuse(opened, read);
    const { unanswerable = null } = envelope;
    if (unanswerable !== null && known === null) return refuse(opened, refusal("MALFORMED", unanswerable));
    return known === null ? begin(opened, read, onStage) : repeat(opened, read, known, onStage);
  }

  /** A known command, which is not sent again: how its repetition was sent does not matter. */
  function repeat(
    opened: Opened,
    read: ReadRequest,
    known: KnownCommand,
    onStage: OnStage | undefined,
  ): Promise<Outcome> | Outcome {
    const { envelope } = opened;
    if (inFlight.isFull(envelope.source, true)) return tooManyAsk;
    if (known.digest !== null && known.digest !== digestOf(read.operation.name, read.request.json)) {
      const outcome = identityReused(envelope.requestId ?? "");
      return execution.refuse(commandOf(opened, read, clock.nowMs(), options.startByMs), outcome);
    }
    return inFlight.follow(envelope.source, known.outcome(onStage));
  }

  function begin(
    opened: Opened,
    read: ReadRequest,
    onStage: OnStage | undefined,
  ): Promise<Outcome> | Outcome {
    const { envelope, id } = opened;
    const { operation, request } = read;
    const { source, expiry } = envelope;
    const command = commandOf(opened, read, clock.nowMs(), options.startByMs);
    const notAllowed = refusedRequest(rights.now(), anywhere.now(), source, operation, request);
    if (notAllowed !== null) return execution.refuse(command, refusal("NOT_ALLOWED", notAllowed));
    const outOfTime = refusedByExpiry(read, expiry);
    if (outOfTime !== null) return refuse(opened, outOfTime);
    if (inFlight.isFull(source, request.effect === "stops")) {
      return refuse(opened, refusal("QUEUE_FULL", "too many commands wait for their outcome"));
    }
    const digest = digestOf(operation.name, request.json);
    return inFlight.follow(source, execution.begin({ id, digest, command, operation, request }, onStage));
  }

  return {
    check: createCheck(parts, rateLimits),
    submit(envelope, signal, onStage) {
      let outcome: Promise<Outcome> | Outcome;
      try {
        outcome = take(envelope, onStage);
      } catch (error) {
        log.error({ err: error, ...logNames(envelope) }, "a command failed inside the gateway");
        outcome = failed();
      }
      if (!(outcome instanceof Promise)) return Promise.resolve(outcome);
      return signal === null ? outcome : abortable(outcome, signal);
    },
    read(operation, json): ParsedRequest | Outcome {
      const read = readOnce(parts, { operation, request: { json } });
      return "outcome" in read ? read : read.request;
    },
    refused,
    session,
    certificate,
    fault: simulated,
    figures: () => ({
      commandsInFlight: inFlight.count,
      refusedAtIntake: count(),
      rateLimited: rateLimits.count(),
    }),
  };
}

/** If the journal cannot be read, a stop goes all the same: a second one does no harm. */
function find({ execution, log }: IntakeParts, id: string, isStop: boolean): KnownCommand | null {
  try {
    return execution.find(id);
  } catch (error) {
    if (!isStop) throw error;
    log.error({ err: error, command: id }, "the journal cannot be read: a stop goes without it");
    return null;
  }
}

/** Checks a command that is not to be sent: a dry run. */
function createCheck(
  parts: IntakeParts,
  rateLimits: ReturnType<typeof createRateLimits>,
): Commander["check"] {
  const { options, rights, execution, clock, log } = parts;
  const anywhere = rightsAnywhere(rights);

  async function check(envelope: Envelope): Promise<Outcome> {
    const read = readOnce(parts, envelope);
    const requestId = `${envelope.scope ?? ""}/${envelope.requestId ?? ""}`;
    const opened = { envelope, requestId };
    if (execution.isClosed()) return shuttingDown();
    const overRate = isStop(read) ? null : rateLimits.take(envelope.source);
    if (overRate !== null) return overRate.outcome;
    const problem = envelopeProblem(envelope, isRequestId(envelope.requestId), false);
    if (problem !== null) return problem;
    if ("outcome" in read) return read;
    const { operation, request } = read;
    const notAllowed = refusedRequest(rights.now(), anywhere.now(), envelope.source, operation, request);
    if (notAllowed !== null) return refusal("NOT_ALLOWED", notAllowed);
    const outOfTime = refusedByExpiry(read, envelope.expiry);
    if (outOfTime !== null) return outOfTime;
    const command = commandOf(opened, read, clock.nowMs(), options.startByMs);
    const digest = digestOf(operation.name, request.json);
    const refusedNow = await execution.check({ id: commandId(command), digest, command, operation, request });
    return refusedNow ?? checked();
  }

  return (envelope) =>
    check(envelope).catch((error: unknown) => {
      log.error({ err: error, operation: envelope.operation }, "a dry run failed inside the gateway");
      return fault();
    });
}

function readOnce(
  { catalogue, log }: Pick<IntakeParts, "catalogue" | "log">,
  envelope: Pick<Envelope, "operation" | "request">,
): ReadRequest | Outcome {
  try {
    return readRequest(catalogue, envelope);
  } catch (error) {
    // A parser returns a problem, and throws only by a defect of ours.
    log.error({ err: error, operation: envelope.operation }, "an operation could not read its request");
    return fault();
  }
}

/** A start needs a time. A stop needs none, and is refused if it names one that is over. */
function refusedByExpiry({ operation, request }: ReadRequest, expiry: Envelope["expiry"]): Outcome | null {
  const { lacks = null, late = null } = expiry ?? {};
  if (request.effect === "moves" && lacks !== null)
    return refusal("NO_EXPIRY", `${operation.name} moves a robot: ${lacks}`);
  if (request.effect === "stops" && late !== null)
    return refusal("NO_EXPIRY", `${operation.name} comes too late: ${late}`);
  return null;
}

function isStop(read: ReadRequest | Outcome): boolean {
  return "request" in read && read.request.effect === "stops";
}

/** What is wrong with an envelope, independent of its request. */
function envelopeProblem(
  { retained, request, requestId }: Envelope,
  hasId: boolean,
  isKnown: boolean,
): Outcome | null {
  if (retained === true && !isKnown) return refusal("RETAINED", "commands must not be retained");
  // If a message could not be read, its own problem says more than the missing id.
  return hasId || "unreadable" in request ? null : refusal("MALFORMED", requestIdFault(requestId));
}

function commandOf(
  { envelope, requestId }: Pick<Opened, "envelope" | "requestId">,
  { operation, request }: ReadRequest,
  nowMs: number,
  defaultMs: number,
): Command {
  const { source, origin, station, expiry, receivedMs = nowMs } = envelope;
  const { effect, robotId, json } = request;
  const atMs = expiry?.atMs ?? null;
  const withinMs = expiry?.withinMs ?? (atMs === null ? defaultMs : Number.POSITIVE_INFINITY);
  return {
    source,
    requestId,
    operation: operation.name,
    effect,
    robotId,
    requestJson: json,
    startByMs: Math.min(receivedMs + withinMs, atMs ?? Number.POSITIVE_INFINITY),
    ...(atMs === null ? {} : { expiresAtMs: atMs }),
    ...(origin === undefined ? {} : { origin }),
    ...(station === undefined ? {} : { station }),
  };
}

/** The outcome, or a rejection with the reason of the signal if it is aborted first. */
export function abortable(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const removeListener = onAbort(signal, () => reject(signal.reason));
    void outcome.then((value) => {
      removeListener();
      resolve(value);
    });
  });
}
