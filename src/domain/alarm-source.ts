import type { AlarmSource } from "./alarm.ts";

/** Whether a value, such as one from a file, is the source of an alarm. */
export function isAlarmSource(value: unknown): value is AlarmSource {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  if (value.kind === "robot") return "robotId" in value && typeof value.robotId === "string";
  if (value.kind === "station") return "station" in value && typeof value.station === "string";
  return value.kind === "gateway";
}
