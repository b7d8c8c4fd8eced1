import { z } from "zod";
import { alarmModel } from "../../../models/alarm.ts";
import { page, user, type ViewOf } from "../../../models/parts.ts";

export const alarms = z.strictObject({ ...page, alarms: z.array(alarmModel) });

export const acknowledgementRequest = z.strictObject({ comment: z.string().optional() });

export const acknowledgement = z.strictObject({
  id: z.string(),
  acknowledged_by: user,
  message: z.string().describe("Why a restart would not know it yet; empty where it would."),
});

export const commentRequest = z.strictObject({ comment: z.string() });

export const commented = z.strictObject({
  id: z.string(),
  commented_by: user,
  message: z.string().describe("Why a restart would not know it yet; empty where it would."),
});

export type Alarms = ViewOf<typeof alarms>;
export type Acknowledgement = ViewOf<typeof acknowledgement>;
