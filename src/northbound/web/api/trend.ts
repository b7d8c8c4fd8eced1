import { z } from "zod";
import { milliseconds, robotId, time, type ViewOf } from "../../../models/parts.ts";

/** The members of a trend besides its values. A restart of the gateway forgets it. */
const trend = {
  since: time.describe("Since when values are kept."),
  step_ms: milliseconds.describe("Each value is of one step of this length."),
  first_at: time.describe("When the step of the first value began."),
};

export const batteryTrend = z.strictObject({
  robot_id: robotId,
  ...trend,
  charge_percent: z
    .array(z.int().min(0).max(100).nullable())
    .describe("Oldest first, 1,440 at most. Null: no charge was known to be true in this step."),
});

const latencyStep = z.strictObject({
  commands: z.int().min(0).describe("That ended in this step with a known outcome."),
  unknown: z.int().min(0).describe("That ended with the outcome unknown, and are not in p50 and p95."),
  p50_ms: z.number().min(0).nullable().describe("From acceptance to outcome, at most 5 % off."),
  p95_ms: z.number().min(0).nullable(),
});

export const latencyTrend = z.strictObject({
  ...trend,
  steps: z
    .array(latencyStep.nullable())
    .describe("Oldest first, 144 at most. Null: no command that was sent has ended in this step."),
});

export type BatteryTrend = ViewOf<typeof batteryTrend>;
export type LatencyStep = ViewOf<typeof latencyStep>;
export type LatencyTrend = ViewOf<typeof latencyTrend>;
