import { expect, test } from "vitest";
import { refusal } from "../../src/domain/outcome.ts";
import { eventJson } from "../../src/models/event.ts";
import { stamp } from "../northbound/mqtt/mqtt-harness.ts";
import { alarmEvent } from "../support/test-alarms.ts";

const plc1 = { source: { protocol: "mqtt", name: "plc1" }, requestId: "c1" } as const;

test("a transition names its event, both ends and our command", () => {
  const text = eventJson(
    {
      kind: "mission",
      eventId: "e1",
      robotId: "r1",
      atMs: stamp.receivedAtMs,
      missionId: "m1",
      from: null,
      to: "STATE_RUNNING",
      owner: "api",
      command: plc1,
    },
    "s1",
  );
  expect(JSON.parse(text)).toEqual({
    event_id: "e1",
    robot_id: "r1",
    at: "2026-01-02T03:04:05.078Z",
    session_id: "s1",
    mission_id: "m1",
    from: null,
    to: "STATE_RUNNING",
    owner: "api",
    command_id: "mqtt:plc1/c1",
    command: { protocol: "mqtt", user: "plc1", request_id: "c1" },
  });
});

test("a command's event says how far it had come, and what was found later", () => {
  const event = {
    kind: "command",
    eventId: "c1",
    robotId: "r1",
    atMs: stamp.receivedAtMs,
    command: plc1,
    operation: "CreateMission",
    from: "received",
    outcome: refusal("NOT_ALLOWED", 'no rule for "plc1"'),
  } as const;
  const told = JSON.parse(eventJson(event, "s1"));
  expect(told).toEqual({
    event_id: "c1",
    robot_id: "r1",
    at: "2026-01-02T03:04:05.078Z",
    session_id: "s1",
    command_id: "mqtt:plc1/c1",
    command: { protocol: "mqtt", user: "plc1", request_id: "c1" },
    operation: "CreateMission",
    from: "received",
    to: "refused",
    code: "NOT_ALLOWED",
    message: 'no rule for "plc1"',
    retry_safe: true,
    mission_id: null,
    evidence: null,
  });
  const later = eventJson({ ...event, from: "unknown", foundLater: "mission m1 is new" }, "s1");
  expect(JSON.parse(later)).toMatchObject({ from: "unknown", found_later: "mission m1 is new" });
});

test("an event of an earlier run says so, and which marks it has", () => {
  const event = { ...alarmEvent("a1", "r1"), sessionId: "s0", historical: true, jump: true } as const;
  expect(JSON.parse(eventJson(event, "s1"))).toMatchObject({
    session_id: "s0",
    historical: true,
    jump: true,
  });
});

test("events that were dropped are told with the times of the first and the last", () => {
  const dropped = {
    kind: "dropped",
    eventId: "d1",
    robotId: "",
    atMs: stamp.receivedAtMs,
    source: plc1.source,
    count: 2,
    fromMs: stamp.receivedAtMs - 2_000,
    toMs: stamp.receivedAtMs - 1_000,
    reason: "too_many",
    historical: true,
  } as const;
  const common = { event_id: "d1", at: "2026-01-02T03:04:05.078Z", session_id: "s1", historical: true };
  const times = { from: "2026-01-02T03:04:03.078Z", to: "2026-01-02T03:04:04.078Z" };
  const told = { robot_id: "", protocol: "mqtt", user: "plc1", count: 2, reason: "too_many" };
  expect(JSON.parse(eventJson(dropped, "s1"))).toEqual({ ...common, ...times, ...told });
});

test("a hold's event says whose it is, and who began or ended it", () => {
  const event = {
    kind: "lease",
    eventId: "l1",
    robotId: "r1",
    atMs: stamp.receivedAtMs,
    station: "dock",
    owner: { protocol: "opcua", name: "line1" },
    to: "free",
    reason: "overridden",
    by: { protocol: "cli", name: "eva" },
  } as const;
  expect(JSON.parse(eventJson(event, "s1"))).toEqual({
    event_id: "l1",
    robot_id: "r1",
    at: "2026-01-02T03:04:05.078Z",
    session_id: "s1",
    station: "dock",
    protocol: "opcua",
    user: "line1",
    from: "leased",
    to: "free",
    reason: "overridden",
    by: { protocol: "cli", user: "eva" },
  });
  const lapsed = eventJson({ ...event, reason: "lapsed", by: null }, "s1");
  expect(JSON.parse(lapsed)).toMatchObject({ reason: "lapsed", by: null });
  const begun = eventJson({ ...event, to: "leased", reason: "asked" }, "s1");
  expect(JSON.parse(begun)).toMatchObject({ from: "free", to: "leased" });
});
