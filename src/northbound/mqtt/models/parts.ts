import { z } from "zod";
import { qualities } from "../../../domain/quality.ts";

/** Common parts of payloads. Each model describes the output of the renderer with the same name. */

export const time = z
  .string()
  .regex(/^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .describe("ISO 8601, UTC, with milliseconds.");

export const session = z
  .string()
  .describe("The run of the gateway, as in status. State of another session is not to be believed.");

export const robotId = z.string().describe("The robot's id at the fleet service.");

export const index = z.int().min(0);

/** An enum of the service: its name, or its number if this version knows no name. */
export function coded(names: readonly string[]) {
  return z.union([z.enum(names), z.int()]).describe("Its name, or its number if this version has no name.");
}

/** A 32-bit float as proto3 JSON. */
export const float = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);

/** A value that was never received has no topic. */
export const shownQuality = z.enum(qualities).exclude(["unknown"]);

/** The envelope of a robot's state, with the `state` of one kind. */
export function envelope(state: z.ZodType) {
  return z.strictObject({
    robot_id: robotId.nullable(),
    quality: shownQuality.describe("How far the state is known to be true now."),
    received_at: time.nullable(),
    session_id: session,
    state: state.nullable().describe("Null while the quality is lost."),
  });
}

export const protocol = z.enum(["mqtt", "opcua", "web", "cli", "gateway"]);

/** The sender: the protocol, and the authenticated user or client. */
export const sender = z.strictObject({ protocol, user: z.string() });
