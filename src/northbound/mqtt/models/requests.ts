import { z } from "zod";
import { ACT_TEXT_CHARACTERS, type ActRule, acts } from "../../../domain/acts.ts";
import { time } from "./parts.ts";

export const outcome = z.enum([
  "succeeded",
  "refused",
  "expired",
  "unknown",
  "probably_succeeded",
  "checked",
]);

const id = z
  .string()
  .regex(/^[\x20-\x7e]{1,128}$/)
  .describe("Yours to choose. The same id again is the same command.");

export const command = z.strictObject({
  id,
  expires_in_ms: z.int().min(1).max(86_400_000).optional().describe("From the gateway's receipt."),
  expires_at: time
    .or(z.iso.datetime({ offset: true }))
    .optional()
    .describe("By the gateway machine's clock."),
  request: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The operation's request in proto3 JSON, camelCase or snake_case (docs/commands.md)."),
});

const actId = id.describe("For the reply; without it there is none.").optional();
const fieldModels = {
  text: z.string().min(1).max(ACT_TEXT_CHARACTERS),
  boolean: z.boolean(),
  integer: z.int(),
} as const;

/** The acts that clients may publish, each with its fields. */
export const act = z.union(
  Object.entries<ActRule>(acts).flatMap(([name, { text, only, fields }]) => {
    if (only !== undefined) return [];
    const models = Object.entries(fields).map(([field, rule]) => {
      const model = fieldModels[rule.type].describe(rule.text);
      return [field, rule.isOptional === true ? model.optional() : model] as const;
    });
    return [z.strictObject({ id: actId, ...Object.fromEntries(models) }).describe(`${name}: ${text}.`)];
  }),
);

export const reply = z.strictObject({
  id: z.string().nullable(),
  outcome,
  code: z.string().describe("A gRPC code, or one of the gateway's own (docs/commands.md)."),
  message: z.string(),
  retry_safe: z.boolean().describe("Whether sending it again, as a new command, moves nothing twice."),
  response: z.unknown().describe("The service's answer in snake_case; null when there was none."),
  duplicate: z.boolean().describe("The recorded outcome of the same command sent before."),
  evidence: z.string().optional(),
});
