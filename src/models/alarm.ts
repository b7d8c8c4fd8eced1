import { z } from "zod";
import { type Alarm, type AlarmSource, alarmPriority, alarmRule } from "../domain/alarm.ts";
import { robotsDuring } from "../domain/alarm-notes.ts";
import { holderName } from "../domain/hold.ts";
import { timeText } from "./json-text.ts";
import { robotId, time, user, type ViewOf } from "./parts.ts";

/** An alarm, in a list or in its event. */
export const alarmModel = z.strictObject({
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
  robots: z.string().describe("Whether robots may move meanwhile, and what the gateway sends."),
  active: z.boolean().describe("False: it has returned, and waits for an acknowledgement."),
  since: time,
  returned_at: time.nullable(),
  occurrences: z.int().min(1),
  acknowledged_by: user.nullable(),
  acknowledged_at: time.nullable(),
  comment: z.string().nullable(),
  commented_by: user.nullable(),
  commented_at: time.nullable(),
});

export type AlarmView = ViewOf<typeof alarmModel>;

/** The length of a list of alarms: brokers and consoles bound their messages. Further alarms are counted. */
export const MOST_ALARMS = 200;

export function alarmOf(alarm: Alarm): AlarmView {
  const { cause, advice } = alarmRule(alarm.code);
  const { acknowledged, comment } = alarm;
  return {
    id: alarm.id,
    code: alarm.code,
    ...sourceOf(alarm.source),
    priority: alarmPriority(alarm.severity),
    severity: alarm.severity,
    text: alarm.text,
    cause,
    advice,
    robots: robotsDuring(alarm.code),
    active: alarm.isActive,
    since: timeText(alarm.sinceMs),
    returned_at: alarm.returnedAtMs === null ? null : timeText(alarm.returnedAtMs),
    occurrences: alarm.occurrences,
    acknowledged_by: acknowledged === null ? null : holderName(acknowledged.by),
    acknowledged_at: acknowledged === null ? null : timeText(acknowledged.atMs),
    comment: comment?.text ?? null,
    commented_by: comment === null ? null : holderName(comment.by),
    commented_at: comment === null ? null : timeText(comment.atMs),
  };
}

function sourceOf(source: AlarmSource): Pick<AlarmView, "source" | "robot_id" | "station"> {
  switch (source.kind) {
    case "robot":
      return { source: "robot", robot_id: source.robotId };
    case "station":
      return { source: "station", station: source.station };
    case "gateway":
      return { source: "gateway" };
  }
}
