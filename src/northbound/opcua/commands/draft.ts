import type { Catalogue } from "../../../contracts/operation.ts";
import type { Command } from "../../../domain/command.ts";
import type { Outcome } from "../../../domain/outcome.ts";
import { badRequest, unknownOperation } from "../../../domain/refusals.ts";
import type { Json } from "../../../platform/json.ts";
import type { Account } from "../security.ts";

/** An operation of the catalogue with its request in proto3 JSON. */
export interface RequestDraft {
  /** The request in words, for `AcceptedText`. */
  readonly text: string;
  readonly operation: string;
  readonly request: Json;
  /** The mission that the request is about, where it names one. */
  readonly missionId: string | null;
}

/** What a ticket asks for. */
export type Draft =
  | RequestDraft
  /** Something that the gateway does itself. It may be done any number of times. */
  | { readonly text: string; readonly perform: (account: Account) => Outcome }
  /** Nothing that can be done: what is missing, or what contradicts what. */
  | { readonly problem: string };

/** The problem of a parameter that a session has not written. */
export function missing(name: string): { readonly problem: string } {
  return { problem: `${name} is missing: this session has not written it` };
}

/** The command that a request of the catalogue stands for, or its refusal before anybody was asked. */
export function commandOf(
  draft: { readonly operation: string; readonly request: unknown },
  identity: Pick<Command, "source" | "requestId" | "origin">,
  catalogue: Catalogue,
  startByMs: number,
): Command | Outcome {
  const operation = catalogue.get(draft.operation);
  if (operation === undefined) return unknownOperation(draft.operation);
  const parsed = operation.parse(draft.request);
  if (!parsed.ok) return badRequest(parsed.problem);
  const { effect, robotId, json } = parsed.request;
  return { ...identity, operation: operation.name, effect, robotId, requestJson: json, startByMs };
}
