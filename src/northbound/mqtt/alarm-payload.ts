import { alarmJson } from "../../domain/alarm-json.ts";
import type { StateChange } from "../../domain/change.ts";

/** Further alarms are counted, and not listed: brokers and consoles bound their messages. */
const MOST_LISTED = 200;

type AlarmsChange = Extract<StateChange, { readonly kind: "robot_alarms" | "station_alarms" | "alarms" }>;

/** The alarms for `robots/<id>/alarms`, `stations/<name>/alarms` and `alarms`, the most urgent first. */
export function alarmsPayload(change: AlarmsChange, sessionId: string): string {
  const { alarms } = change;
  return JSON.stringify({
    ...whose(change),
    count: alarms.length,
    highest_severity: alarms[0]?.severity ?? 0,
    alarms: alarms.slice(0, MOST_LISTED).map(alarmJson),
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
