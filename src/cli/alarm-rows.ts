import type { JsonObject } from "../platform/json.ts";
import { textOf } from "./answer-fields.ts";
import { columns, localTime } from "./readable.ts";

/** Alarms in a table; the last column has their texts. */
export function alarmRows(found: readonly JsonObject[]): readonly string[] {
  return columns(
    found.map((alarm) => [
      textOf(alarm, "priority"),
      alarmWords(alarm),
      localTime(textOf(alarm, "since")),
      textOf(alarm, "id"),
      textOf(alarm, "robot_id") || textOf(alarm, "station") || textOf(alarm, "source"),
      textOf(alarm, "text"),
    ]),
  );
}

function alarmWords(alarm: JsonObject): string {
  const state = alarm.active === true ? "active" : "returned";
  return typeof alarm.acknowledged_by === "string" ? `${state}, acknowledged` : state;
}
