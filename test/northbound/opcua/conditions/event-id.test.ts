import { expect, it } from "vitest";
import type { Alarm } from "../../../../src/domain/alarm.ts";
import { eventIdOf, readEventId } from "../../../../src/northbound/opcua/conditions/event-id.ts";

const low = { id: "BATTERY_LOW-a", occurrences: 1, revision: 2 } as Alarm;
const critical = { id: "BATTERY_CRITICAL-b", occurrences: 1, revision: 1 } as Alarm;

it("a condition of two alarms has one EventId, whichever is known first: after a restart it is the other", () => {
  expect(eventIdOf([low, critical])).toBe(eventIdOf([critical, low]));
  expect(readEventId(Buffer.from(eventIdOf([low, critical])))).toHaveLength(2);
});
