import { z } from "zod";
import { count, live } from "../fields.ts";
import { type Finding, wrong } from "../finding.ts";

/** `alarms:` the limits at which alarms are raised. */
export const alarmsSection = z
  .strictObject({
    battery: live(
      z
        .strictObject({
          low: count(1, 99, 20, "Percent of charge for BATTERY_LOW."),
          critical: count(0, 98, 10, "Percent of charge for BATTERY_CRITICAL."),
        })
        .prefault({})
        .describe("Of the battery."),
    ),
  })
  .prefault({})
  .describe("Limits of alarms. One of the battery ends when the robot charges, or has 5 % more.");

type AlarmsSection = z.output<typeof alarmsSection>;

export function alarmsFindings({ battery }: AlarmsSection): readonly Finding[] {
  if (battery.critical < battery.low) return [];
  return [wrong(["alarms", "battery", "critical"], `must be less than alarms.battery.low (${battery.low})`)];
}
