import type { Envelope, EnvelopeRequest } from "../../contracts/commander.ts";
import type { Catalogue, Operation, ParsedRequest } from "../../contracts/operation.ts";
import type { Command, CommandStage, Effect } from "../../domain/command.ts";
import { badRequest, jsonFault, type Outcome, refusal, unknownOperation } from "../../domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";

/** An identity that is in hand or recorded. */
export interface KnownCommand {
  /** Null: its record is damaged, and no request counts as another. */
  readonly digest: string | null;
  /** The recorded outcome, or the coming one, marked as a duplicate. */
  outcome(onStage?: (stage: CommandStage) => void): Promise<Outcome>;
}

/** A command that has passed the intake. */
export interface AcceptedCommand {
  /** `commandId(command)`. */
  readonly id: string;
  /** Of its operation and its canonical request. */
  readonly digest: string;
  readonly command: Command;
  readonly operation: Operation;
  readonly request: ParsedRequest;
}

/** The dispatcher, for the intake. */
export interface Execution {
  /** Null: the identity is neither in hand nor recorded, so a command under it may begin. */
  find(id: string): KnownCommand | null;
  /** The journal is closed: of no identity is it known that nothing was sent under it. */
  isClosed(): boolean;
  /**
   * Executes a command to its end. Call it right after `find`, so that no second command of the identity
   * comes between.
   */
  begin(accepted: AcceptedCommand, onStage?: (stage: CommandStage) => void): Promise<Outcome>;
  /** Why a command would be refused now; null: it would be sent. Does not begin it. Never rejects. */
  check(accepted: AcceptedCommand): Promise<Outcome | null>;
  /**
   * Refuses a command that never began: audits, counts and publishes it.
   *
   * @returns the outcome for the sender
   */
  refuse(command: Command, outcome: Outcome): Outcome;
  /** The outcome for the sender of a message that is refused before it is a command. */
  reported(effect: Effect, decided: Outcome): Outcome;
}

/** A valid request of its operation. */
export interface ReadRequest {
  readonly operation: Operation;
  readonly request: ParsedRequest;
}

const DEEPEST_LEVEL = 64;
/** Of a JSON text, in characters or in bytes. */
const LONGEST_TEXT = 256 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a command's request once, by its operation, or returns what is wrong with it. */
export function readRequest(
  catalogue: Catalogue,
  { operation: name, request }: Pick<Envelope, "operation" | "request">,
): ReadRequest | Outcome {
  if ("unreadable" in request) return refusal("MALFORMED", request.unreadable);
  const operation = catalogue.get(name);
  if (operation === undefined) return unknownOperation(name);
  if ("parsed" in request) return { operation, request: request.parsed };
  const object = objectOf(request);
  if ("outcome" in object) return object;
  const parsed = operation.parse(object.fields);
  return parsed.ok ? { operation, request: parsed.request } : badRequest(parsed.problem);
}

interface RequestObject {
  readonly fields: JsonObject;
}

function objectOf(
  request: Extract<EnvelopeRequest, { json: unknown } | { text: unknown }>,
): RequestObject | Outcome {
  const value = "text" in request ? jsonOf(request.text) : { json: request.json };
  if ("outcome" in value) return value;
  const { json } = value;
  if (json === undefined) return problem("is missing");
  if (!isJsonObject(json)) return problem("must be an object");
  return isDeeperThan(json, DEEPEST_LEVEL)
    ? problem(`is nested more than ${DEEPEST_LEVEL} levels deep`)
    : { fields: json };
}

/** An empty text is an empty request. */
function jsonOf(given: string | Uint8Array): { readonly json: unknown } | Outcome {
  if (given.length > LONGEST_TEXT) {
    const unit = typeof given === "string" ? "characters" : "bytes";
    return problem(`has ${given.length} ${unit}; at most ${LONGEST_TEXT} are read`);
  }
  const text = typeof given === "string" ? given : textOf(given);
  if (text === null) return problem("is not UTF-8");
  const read = readJson(text.trim() === "" ? "{}" : text);
  return read.ok ? { json: read.value } : badRequest(jsonFault(read));
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isDeeperThan(inner, levels - 1)) return true;
  return false;
}

function problem(message: string): Outcome {
  return badRequest({ path: "", message });
}
