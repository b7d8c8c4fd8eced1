import { type Alarm, type AlarmSource, alarmPriority, alarmRule } from "../../domain/alarm.ts";
import type { StateChange } from "../../domain/change.ts";

/** More are counted, and not listed: brokers and consoles bound their messages. */
const MOST_LISTED = 200;

type AlarmsChange = Extract<StateChange, { readonly kind: "robot_alarms" | "station_alarms" | "alarms" }>;

/**
 * The alarms that stand, the most urgent first, for `robots/<id>/alarms`, `stations/<name>/alarms` and
 * `alarms`.
 */
export function alarmsPayload(change: AlarmsChange, sessionId: string): string {
  const { alarms } = change;
  return JSON.stringify({
    ...whose(change),
    count: alarms.length,
    highest_severity: alarms[0]?.severity ?? 0,
    alarms: alarms.slice(0, MOST_LISTED).map(plainAlarm),
    session_id: sessionId,
  });
}

function whose(change: AlarmsChange): Readonly<Record<string, unknown>> {
  switch (change.kind) {
    case "robot_alarms":
      return { robot_id: change.robotId, out_of_service: change.isOutOfService };
    case "station_alarms":
      return { station: change.station };
    case "alarms":
      return {};
  }
}

/** One alarm, in a list or in its event. */
export function plainAlarm(alarm: Alarm): Readonly<Record<string, unknown>> {
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

/** The event of a robot names it anyway. */
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
