import { z } from "zod";
import { robotId, session, time } from "./parts.ts";

/** The fields of every alarm, in a list or in its event. */
export const alarmFields = {
  id: z.string().describe("Names the alarm until it is over."),
  code: z.string(),
  source: z.enum(["gateway", "robot", "station"]),
  station: z.string().optional(),
  priority: z.enum(["urgent", "high", "medium", "low"]),
  severity: z.int().min(1).max(1_000),
  text: z.string(),
  cause: z.string(),
  advice: z.string(),
  active: z.boolean(),
  since: time,
  returned_at: time.nullable(),
  occurrences: z.int().min(1),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: time.nullable(),
};

const list = {
  count: z.int().min(0).describe("Of all that stand; at most 200 are listed."),
  highest_severity: z.int().min(0).max(1_000),
  alarms: z
    .array(z.strictObject({ ...alarmFields, robot_id: robotId.optional() }))
    .describe("The most urgent first."),
  session_id: session,
};

export const robotAlarms = z.strictObject({ robot_id: robotId, out_of_service: z.boolean(), ...list });
export const stationAlarms = z.strictObject({ station: z.string(), ...list });
export const alarms = z.strictObject(list);
