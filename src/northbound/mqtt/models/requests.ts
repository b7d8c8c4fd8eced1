import { z } from "zod";
import { robotId, time } from "../../../models/parts.ts";
import { commandFields, requestId as id } from "../../../models/reply.ts";

export const command = z.strictObject({
  id,
  expires_at: time
    .or(z.iso.datetime({ offset: true }))
    .optional()
    .describe("By the gateway machine's clock."),
  ...commandFields,
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
