import { z } from "zod";
import { milliseconds, page, protocol, robotId, time, type ViewOf } from "../../../models/parts.ts";
import { commandFields, outcomeName, replyModel, requestId } from "../../../models/reply.ts";

/** The body of `PUT /api/v1/commands/{id}`. */
export const commandRequest = z.strictObject({
  operation: z.string().describe("One of docs/commands.md."),
  ...commandFields,
  expires_at: z.iso.datetime({ offset: true }).optional().describe("By the gateway machine's clock."),
  tick: z
    .string()
    .optional()
    .describe("The newest tick that the page had. Refused are a start after 10 s, a stop after 5 s."),
  asked_by: z
    .string()
    .optional()
    .describe("The user in whose name it is asked. It is refused if the log-in, by now, is another's."),
});

/** The answer to it while the outcome is not final. */
export const pendingCommand = z.strictObject({
  id: requestId,
  stage: z.enum(["received", "accepted", "sent"]),
  duplicate: z.boolean(),
});

/** The answer to it when the outcome is final. */
export const finalCommand = replyModel.extend({ id: requestId });

/** A command of the log, from any protocol. */
export const command = z.strictObject({
  number: z.int().describe("Its place in this log; another after a restart."),
  protocol,
  user: z.string(),
  request_id: z.string().nullable(),
  operation: z.string(),
  robot_id: robotId.nullable(),
  request: z.string().nullable().describe("Canonical JSON without secrets; null: it could not be read."),
  on_behalf_of: z.string().nullable().describe("For whom the gateway sent it, as opcua:plc1."),
  stage: z.enum(["accepted", "sent", "final"]),
  accepted_at: time.nullable().describe("Null: it was refused before."),
  sent_at: time.nullable(),
  final_at: time.nullable().describe("Null: its outcome is not final."),
  age_ms: milliseconds.describe("Since its last stage, when this was sent."),
  outcome: outcomeName.nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  meaning: z.string().nullable().describe("What the outcome means, in the words of docs/commands.md."),
  mission_id: z.string().nullable(),
  evidence: z.string().nullable(),
  found_later: z.string().nullable().describe("Seen after an outcome that is unknown, and stays so."),
});

export const commands = z.strictObject({ ...page, commands: z.array(command) });

export type CommandRequest = ViewOf<typeof commandRequest>;
export type PendingCommand = ViewOf<typeof pendingCommand>;
export type FinalCommand = ViewOf<typeof finalCommand>;
export type Command = ViewOf<typeof command>;
export type Commands = ViewOf<typeof commands>;

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
  german: z.strictObject({ name: z.string(), summary: z.string() }).describe("Name and summary in German."),
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
