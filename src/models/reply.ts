import { z } from "zod";
import type { Outcome } from "../domain/outcome.ts";

export const outcomeName = z.enum([
  "succeeded",
  "refused",
  "expired",
  "unknown",
  "probably_succeeded",
  "checked",
]);

export const requestId = z
  .string()
  .regex(/^[\x20-\x7e]{1,128}$/)
  .describe("Yours to choose. The same id again is the same command.");

/** The fields of a command, whatever protocol it comes by. */
export const commandFields = {
  request: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The operation's request in proto3 JSON, camelCase or snake_case (docs/commands.md)."),
  expires_in_ms: z.int().min(1).max(86_400_000).optional().describe("From the gateway's receipt."),
};

/** The answer to a command. `id` is null if the id of the request could not be read. */
export const replyModel = z.strictObject({
  id: z.string().nullable(),
  outcome: outcomeName,
  code: z.string().describe("A gRPC code, or one of the gateway's own (docs/commands.md)."),
  message: z.string(),
  retry_safe: z.boolean().describe("Whether sending it again, as a new command, moves nothing twice."),
  response: z.unknown().describe("The service's answer in snake_case; null when there was none."),
  duplicate: z.boolean().describe("The recorded outcome of the same command sent before."),
  evidence: z.string().optional().describe("What shows that it was done, where that is inferred."),
});

/** The outcome of a command as text: the service's answer is text already. */
export function replyJson(id: string | null, outcome: Outcome): string {
  const { responseJson, evidence } = outcome;
  const text = JSON.stringify({
    id,
    outcome: outcome.outcome,
    code: outcome.code,
    message: outcome.message,
    retry_safe: outcome.retrySafe,
  });
  const found = evidence === null ? "" : `,"evidence":${JSON.stringify(evidence)}`;
  return `${text.slice(0, -1)},"response":${responseJson ?? "null"},"duplicate":${outcome.duplicate}${found}}`;
}
