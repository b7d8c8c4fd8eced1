import type { StateChange } from "../../domain/change.ts";
import type { FleetMap } from "../../domain/fleet-map.ts";
import type { HoldState } from "../../domain/hold.ts";
import type { Quality } from "../../domain/quality.ts";
import type { VisibleStation } from "../../domain/station-visits.ts";
import { alarmOf, MOST_ALARMS } from "../../models/alarm.ts";
import { jsonText, jsonTime } from "../../models/json-text.ts";
import { holdOf } from "../../models/robot.ts";
import { stationOf } from "../../models/station.ts";

/**
 * The envelope of every state topic. `robotId` is null for a task chain whose robot is not known. A lost
 * value has the state null.
 */
export function envelope(
  robotId: string | null,
  quality: Quality,
  receivedAtMs: number,
  sessionId: string,
  state: string,
): string {
  const robot = robotId === null ? "null" : jsonText(robotId);
  return `{"robot_id":${robot},"quality":"${quality}","received_at":${jsonTime(receivedAtMs)},"session_id":${jsonText(sessionId)},"state":${quality === "lost" ? "null" : state}}`;
}

/** A map of the last GetMap, for `maps/<id>`; empty for one that is gone. */
export function mapPayload(mapId: number, map: FleetMap | null, sessionId: string): string {
  if (map === null) return "";
  const { readAtMs, json, bytes } = map;
  return `{"map_id":${mapId},"read_at":${jsonTime(readAtMs)},"bytes":${bytes},"session_id":${jsonText(sessionId)},"state":${json ?? "null"}}`;
}

/** The hold on a robot, or (null) on all robots: for `robots/<id>/hold` and `hold`. */
export function holdPayload(robotId: string | null, hold: HoldState, sessionId: string): string {
  const robot = robotId === null ? {} : { robot_id: robotId };
  return JSON.stringify({ ...robot, ...holdOf(hold), session_id: sessionId });
}

/** For `stations/<station>`. */
export function stationPayload(station: string, shown: VisibleStation, sessionId: string): string {
  const { state, ...named } = stationOf(station, shown);
  return JSON.stringify({ ...named, session_id: sessionId, state });
}

type AlarmsChange = Extract<StateChange, { readonly kind: "robot_alarms" | "station_alarms" | "alarms" }>;

/** The alarms for `robots/<id>/alarms`, `stations/<name>/alarms` and `alarms`, the most urgent first. */
export function alarmsPayload(change: AlarmsChange, sessionId: string): string {
  const { alarms } = change;
  return JSON.stringify({
    ...whose(change),
    count: alarms.length,
    highest_severity: alarms[0]?.severity ?? 0,
    alarms: alarms.slice(0, MOST_ALARMS).map(alarmOf),
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
