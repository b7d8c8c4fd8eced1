import type { IncomingHttpHeaders } from "node:http";
import type { Commander, CommandLedger } from "../../contracts/commander.ts";
import type { Catalogue } from "../../contracts/operation.ts";
import type { Command, CommandStage } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { badRequest, idFault, idStands, isPlainText, unknownOperation } from "../../domain/refusals.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { readCommandBody } from "./command-body.ts";
import { senderOf } from "./sender.ts";

export interface IntakeParts {
  readonly commander: Commander;
  readonly ledger: CommandLedger;
  readonly catalogue: Catalogue;
  /** How long after its receipt a command without an expiry may be sent, in milliseconds. */
  readonly startByMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

const ID_CHARACTERS = 128;

const fault: Outcome = {
  ...refusal("INTERNAL_FAULT", "the gateway failed; whether the command was sent is not known", false),
  outcome: "unknown",
};

/** A command, or the refusal of the request, which is audited here. */
export function readCommand(
  parts: IntakeParts,
  headers: IncomingHttpHeaders,
  requestId: string,
  bytes: unknown,
): Command | Outcome {
  const { catalogue, clock, ledger, startByMs } = parts;
  const [source, wrongSender] = senderOf(headers);
  let operationName = "";
  const refuse = (outcome: Outcome): Outcome => {
    const told = ledger.knows(source, requestId) ? idStands(outcome) : outcome;
    ledger.refused({ source, requestId, operation: operationName, robotId: null }, told);
    return told;
  };
  if (wrongSender !== null) return refuse(refusal("MALFORMED", wrongSender));
  if (!isPlainText(requestId, ID_CHARACTERS))
    return refuse(refusal("MALFORMED", idFault(requestId, ID_CHARACTERS)));
  const read = readCommandBody(bytes);
  if (!read.ok) return refuse(refusal("MALFORMED", read.reason));
  const { operation: name, request, expiresAtMs, expiresInMs } = read.body;
  operationName = name;
  const operation = catalogue.get(name);
  if (operation === undefined) return refuse(unknownOperation(name));
  const parsed = operation.parse(request);
  if (!parsed.ok) return refuse(badRequest(parsed.problem));
  const { effect, robotId, json: requestJson } = parsed.request;
  const command = { source, requestId, operation: name, effect, robotId, requestJson };
  const nowMs = clock.nowMs();
  if (expiresAtMs === null) return { ...command, startByMs: nowMs + (expiresInMs ?? startByMs) };
  const startBy = Math.min(expiresAtMs, nowMs + (expiresInMs ?? Number.POSITIVE_INFINITY));
  return { ...command, startByMs: startBy, expiresAtMs };
}

/** The outcome of a command. After the signal is aborted the result has no meaning. */
export async function submit(
  { commander, log }: IntakeParts,
  command: Command,
  signal: AbortSignal,
  onStage: (stage: CommandStage) => void,
): Promise<Outcome> {
  try {
    return await commander.submit(command, signal, onStage);
  } catch (error) {
    if (!signal.aborted)
      log.error({ err: error, operation: command.operation }, "a command failed inside the gateway");
    return fault;
  }
}
