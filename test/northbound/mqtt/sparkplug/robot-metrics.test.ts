import { describe, expect, it } from "vitest";
import { alarmRules, alarmsOfCluster } from "../../../../src/domain/alarm.ts";
import { robotAlarmCodes } from "../../../../src/northbound/mqtt/sparkplug/robot-metrics.ts";

/** The alarms that are never a robot's own. A robot's conveyors bring CONVEYOR_ERROR. */
const ofOthers: readonly string[] = [
  ...alarmsOfCluster,
  "FLEET_LINK_DOWN",
  "DUPLICATE_GATEWAY",
  "RECORDS_LOST",
  "DISK_FULL",
  "CLOCK_SKEW",
  "BUFFER_DROPPING",
  "TOKEN_NOT_RENEWED",
  "CERTIFICATE_EXPIRES",
  "CONVEYOR_ERROR",
];

describe("the alarms of a robot over Sparkplug", () => {
  it("has each code that a robot may have", () => {
    expect([...robotAlarmCodes, ...ofOthers].toSorted()).toEqual(Object.keys(alarmRules).toSorted());
  });
});
