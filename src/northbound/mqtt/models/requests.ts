import { z } from "zod";
import { robotId, time } from "./parts.ts";

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

export const station = z.union([
  z.strictObject({ id, robot_id: robotId }).describe("To ask, release and override."),
  z.strictObject({ id, counter: z.int().describe("Another number in each heartbeat.") }).describe("To beat."),
]);

export const hold = z.strictObject({
  id,
  hold: z.boolean(),
  user: z.string().optional().describe("Beside hold false: whose hold is lifted, as opcua:plc1."),
});

/** To `ack`, with the id of an alarm; to `service`, with a robot and whether it is out of service. */
export const alarm = z.union([
  z.strictObject({ id, alarm_id: z.string() }),
  z.strictObject({ id, robot_id: robotId, out_of_service: z.boolean() }),
]);

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
