import type { ActiveAlarms, AlarmStore } from "../../src/contracts/alarms.ts";
import { type Alarm, type AlarmCode, alarmRule } from "../../src/domain/alarm.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { type AlarmRegistry, createAlarmRegistry } from "../../src/state/alarm-registry.ts";

/** None stands. */
export const noAlarms: AlarmStore & ActiveAlarms = {
  storeProblem: async () => null,
  shown: () => ({ alarms: [], isOutOfService: false }),
};

/** An alarm registry in which nothing stands. */
export function emptyAlarmBook(clock: Clock): AlarmRegistry {
  let events = 0;
  return createAlarmRegistry(clock, { alarms: [], outOfService: [], lastId: 0 }, () => {
    events += 1;
    return `alarm-${events}`;
  });
}

/** An active alarm; "" is no robot. */
export function standingAlarm(code: AlarmCode, robotId: string): Alarm {
  return {
    id: `${code}-1`,
    code,
    source: robotId === "" ? { kind: "gateway" } : { kind: "robot", robotId },
    severity: alarmRule(code).severity,
    text: "found",
    isActive: true,
    sinceMs: 0,
    returnedAtMs: null,
    occurrences: 1,
    acknowledged: null,
    comment: null,
    revision: 1,
    changedAtMs: 0,
  };
}

/** The event of an alarm that was raised; "" is no robot. */
export function alarmEvent(eventId: string, robotId: string, code: AlarmCode = "ROBOT_LOST"): FleetEvent {
  const alarm = standingAlarm(code, robotId);
  return { kind: "alarm", eventId, robotId, atMs: 0, from: "inactive", to: "active", alarm };
}
