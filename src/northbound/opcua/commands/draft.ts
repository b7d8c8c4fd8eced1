import type { Catalogue } from "../../../contracts/operation.ts";
import type { Command } from "../../../domain/command.ts";
import { type Outcome, refusal } from "../../../domain/outcome.ts";
import type { Json } from "../../../platform/json.ts";

/** An operation of the catalogue with its request in proto3 JSON, or why there is none. */
export type Draft =
  | {
      readonly operation: string;
      readonly request: Json;
      /** The mission that the request is about, where it names one. */
      readonly missionId: string | null;
    }
  | { readonly problem: string };

/** The command that a draft stands for, or its refusal before anybody was asked. */
export function commandOf(
  draft: Draft,
  identity: Pick<Command, "source" | "requestId">,
  catalogue: Catalogue,
  startByMs: number,
): Command | Outcome {
  if ("problem" in draft) return refusal("MALFORMED", draft.problem);
  const operation = catalogue.get(draft.operation);
  if (operation === undefined) {
    return refusal("UNKNOWN_OPERATION", `this gateway has no operation ${draft.operation}`);
  }
  const parsed = operation.parse(draft.request);
  if (!parsed.ok) return refusal("MALFORMED", `${parsed.problem.path}: ${parsed.problem.message}`);
  const { effect, robotId, json } = parsed.request;
  return { ...identity, operation: operation.name, effect, robotId, requestJson: json, startByMs };
}
