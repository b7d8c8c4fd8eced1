import { z } from "zod";
import { milliseconds, page, robotId, time, type ViewOf } from "./parts.ts";

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

/** The body of `PUT /api/v1/commands/{id}`. */
export const commandRequest = z.strictObject({
  operation: z.string().describe("One of docs/commands.md."),
  request: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The operation's request in proto3 JSON, camelCase or snake_case."),
  expires_in_ms: z.int().min(1).max(86_400_000).optional().describe("From the gateway's receipt."),
  expires_at: z.iso.datetime({ offset: true }).optional().describe("By the gateway machine's clock."),
  tick: z
    .string()
    .optional()
    .describe("The newest tick of the stream. A start whose tick is older than 10 s is refused."),
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
export const finalCommand = z.strictObject({
  id: requestId,
  outcome: outcomeName,
  code: z.string().describe("A gRPC code, or one of the gateway's own (docs/commands.md)."),
  message: z.string(),
  retry_safe: z.boolean().describe("Whether sending it again, as a new command, moves nothing twice."),
  response: z.unknown().describe("The service's answer in snake_case; null when there was none."),
  duplicate: z.boolean().describe("The recorded outcome of the same command sent before."),
  evidence: z.string().optional().describe("What shows that it was done, where that is inferred."),
});

/** A command of the log, from any protocol. */
export const command = z.strictObject({
  number: z.int().describe("Its place in this log; another after a restart."),
  protocol: z.enum(["mqtt", "opcua", "web", "cli", "gateway"]),
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

export type OutcomeName = ViewOf<typeof outcomeName>;
export type CommandRequest = ViewOf<typeof commandRequest>;
export type PendingCommand = ViewOf<typeof pendingCommand>;
export type FinalCommand = ViewOf<typeof finalCommand>;
export type Command = ViewOf<typeof command>;
export type Commands = ViewOf<typeof commands>;
