import { type Alarm, type AlarmSource, alarmPriority, alarmRule } from "./alarm.ts";

/** One alarm as every protocol publishes it, in a list or in its event. */
export function alarmJson(alarm: Alarm): Readonly<Record<string, unknown>> {
  const { cause, advice } = alarmRule(alarm.code);
  const { acknowledged } = alarm;
  return {
    id: alarm.id,
    code: alarm.code,
    ...plainSource(alarm.source),
    priority: alarmPriority(alarm.severity),
    severity: alarm.severity,
    text: alarm.text,
    cause,
    advice,
    active: alarm.isActive,
    since: time(alarm.sinceMs),
    returned_at: alarm.returnedAtMs === null ? null : time(alarm.returnedAtMs),
    occurrences: alarm.occurrences,
    acknowledged_by: acknowledged === null ? null : `${acknowledged.by.protocol}:${acknowledged.by.name}`,
    acknowledged_at: acknowledged === null ? null : time(acknowledged.atMs),
  };
}

/** Leaves the robot out: the event of a robot names it anyway. */
function plainSource(source: AlarmSource): Readonly<Record<string, string>> {
  switch (source.kind) {
    case "robot":
      return { source: "robot", robot_id: source.robotId };
    case "station":
      return { source: "station", station: source.station };
    case "gateway":
      return { source: "gateway" };
  }
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}
