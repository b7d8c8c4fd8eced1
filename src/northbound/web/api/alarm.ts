import { z } from "zod";
import { page, robotId, time, user, type ViewOf } from "./parts.ts";

export const alarm = z.strictObject({
  id: z.string().describe("Names the alarm until it is over."),
  code: z.string(),
  source: z.enum(["gateway", "robot", "station"]),
  robot_id: robotId.optional(),
  station: z.string().optional(),
  priority: z.enum(["urgent", "high", "medium", "low"]),
  severity: z.int().min(1).max(1_000),
  text: z.string().describe("What was found."),
  cause: z.string().describe("What is usually behind it."),
  advice: z.string().describe("What a person does about it."),
  active: z.boolean().describe("False: it has returned, and waits for an acknowledgement."),
  since: time,
  returned_at: time.nullable(),
  occurrences: z.int().min(1),
  acknowledged_by: user.nullable(),
  acknowledged_at: time.nullable(),
});

export const alarms = z.strictObject({ ...page, alarms: z.array(alarm) });

export const acknowledgement = z.strictObject({
  id: z.string(),
  acknowledged_by: user,
  message: z.string().describe("Why a restart would not know it yet; empty where it would."),
});

export type Alarm = ViewOf<typeof alarm>;
export type Alarms = ViewOf<typeof alarms>;
export type Acknowledgement = ViewOf<typeof acknowledgement>;
