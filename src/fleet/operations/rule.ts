import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import type {
  Destination,
  EvidenceRule,
  ParsedRequest,
  RepeatRule,
  Subject,
} from "../../contracts/operation.ts";
import type { Effect, Role } from "../../domain/command.ts";

/**
 * What one request of an operation does, and what may be known of it afterwards (docs/commands.md,
 * Operations).
 */
export interface Evaluation {
  readonly effect: Effect;
  readonly subject: Subject;
  readonly repeat: RepeatRule;
  readonly evidence: EvidenceRule;
  readonly identityField?: readonly string[];
  readonly conveyors?: ParsedRequest["conveyors"];
  readonly switches?: ParsedRequest["switches"];
  readonly destination?: Destination;
}

/** One row of the table of operations. */
export interface Rule {
  readonly role: Role;
  /** Fields, by their proto names, without which a request has no meaning. */
  readonly required: readonly string[];
  /** Paths (camelCase) of maps whose values are secrets. */
  readonly secretMaps?: readonly (readonly string[])[];
  evaluate(request: Message): Evaluation;
}

/** A row whose judgement is typed by the request. */
export function rule<Desc extends DescMessage>(
  _desc: Desc,
  role: Role,
  required: readonly string[],
  evaluate: (request: MessageShape<Desc>) => Evaluation,
): Rule {
  return { role, required, evaluate };
}

export const never: RepeatRule = { kind: "never" };
export const noEvidence: EvidenceRule = { kind: "none" };
export const fleetSubject: Subject = { kind: "fleet" };

type AlreadyDone = Extract<RepeatRule, { kind: "repeatable" }>["alreadyDone"];

/** Repeatable within its expiry; these refusals of a repetition mean that it was done already. */
export function repeatable(...alreadyDone: AlreadyDone): RepeatRule {
  return { kind: "repeatable", until: "expiry", alreadyDone };
}

/** Repeatable also beyond its expiry, once it has left. */
export function repeatableLate(...alreadyDone: AlreadyDone): RepeatRule {
  return { kind: "repeatable", until: "evidence", alreadyDone };
}

/** The judgement of every read: no effect, so free to be repeated. */
export function reading(subject: Subject): Evaluation {
  return { effect: "reads", subject, repeat: repeatable(), evidence: noEvidence };
}
