import { z } from "zod";
import type { ViewOf } from "../../../models/parts.ts";
import { page } from "./parts.ts";

export const requestField = z.strictObject({
  name: z.string().describe("In snake_case."),
  json_name: z.string().describe("In camelCase. Requests may use either."),
  type: z.string().describe("string, int32, bool, …, map, or the name of a message or an enum."),
  list: z.boolean(),
  required: z.boolean(),
  one_of: z.string().nullable().describe("The group of which at most one field may be set."),
  values: z.array(z.string()).describe("The names of an enum."),
  get fields(): z.ZodArray<typeof requestField> {
    return z.array(requestField);
  },
});

/** An operation of the fleet service, with all that a form for it needs. */
export const operation = z.strictObject({
  name: z.string(),
  summary: z.string(),
  role: z.enum(["observer", "operator", "engineer"]).describe("The role that its sender needs."),
  fields: z.array(requestField),
  examples: z.array(z.strictObject({ title: z.string(), request: z.unknown() })),
  robot_field: z
    .strictObject({ path: z.array(z.string()), by: z.enum(["id", "number"]) })
    .nullable()
    .describe("The field (camelCase) that names the robot; null: none does."),
});

export const operations = z.strictObject({ ...page, operations: z.array(operation) });

export type RequestField = ViewOf<typeof requestField>;
export type Operation = ViewOf<typeof operation>;
export type Operations = ViewOf<typeof operations>;
