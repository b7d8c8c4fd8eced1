import { z } from "zod";
import { ACT_TEXT_CHARACTERS, type ActRule, acts } from "../../../domain/acts.ts";
import { time } from "../../../models/parts.ts";
import { commandFields, requestId as id } from "../../../models/reply.ts";

export const command = z.strictObject({
  id,
  expires_at: time
    .or(z.iso.datetime({ offset: true }))
    .optional()
    .describe("By the gateway machine's clock."),
  ...commandFields,
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
