import { z } from "zod";
import { session, time, type ViewOf } from "../../../models/parts.ts";

const partState = z.enum(["starting", "up", "degraded", "down"]);

export const part = z.strictObject({
  state: partState,
  since: time.nullable().describe("Null: not known."),
  detail: z.string().describe("Why; empty where all is well."),
  figures: z.record(z.string(), z.number()),
});

export const health = z.strictObject({
  state: partState.describe("The worst of the parts."),
  at: time,
  gateway_id: z.string(),
  version: z.string(),
  session_id: session,
  started_at: time,
  parts: z.record(z.string(), part),
});

/** The body of `PUT /api/v1/log-level`. */
export const logLevelRequest = z.strictObject({
  component: z.string().optional().describe("As GET lists it; left out, or *: all."),
  level: z.string(),
});

/** The body of `POST /api/v1/handover`. */
export const handoverRequest = z.strictObject({
  to: z.string().optional().describe("The box that is to lead; left out: the other one."),
  drill: z.boolean().optional().describe("Whether it hands back."),
});

/** The body of `POST /api/v1/fence`. */
export const fenceRequest = z.strictObject({
  member: z.string().describe("The box that is off."),
});

export const problem = z.strictObject({
  type: z.literal("about:blank"),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe("What is wrong, where, and what would be right."),
  outcome: z.string().optional(),
  code: z.string().optional(),
  retry_safe: z.boolean().optional(),
});

export type PartState = ViewOf<typeof partState>;
export type Health = ViewOf<typeof health>;
export type Problem = ViewOf<typeof problem>;
