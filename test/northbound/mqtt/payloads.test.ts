import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MissionQueue } from "../../../src/domain/mission.ts";
import { refusal } from "../../../src/domain/outcome.ts";
import { isoTime, jsonFloat, jsonText } from "../../../src/northbound/mqtt/json-text.ts";
import {
  batteryState,
  conveyorState,
  envelope,
  eventPayload,
  missionState,
} from "../../../src/northbound/mqtt/payloads.ts";
import { alarmEvent } from "../../support/test-alarms.ts";
import { mission, queue, stamp } from "./mqtt-harness.ts";

const metadata = '{"timestamp":"2026-01-02T03:04:05.006Z","sequence_number":7}';
const missionText =
  '{"mission_id":"m1","state":"STATE_RUNNING","goals":[{"destination_id":"Shelf \\"A\\""},{"pose":{"x_meters":1.2,"y_meters":-3,"heading_radians":0}}],"current_goal_index":1,"mission_feedback":{"cart_feedback":{"status":"STATUS_NAVIGATING"}},"mission_type":{"cart_type":"CART_TYPE_TRAVERSE"},"owner":"api"}';

describe("state, byte for byte the webhook's", () => {
  test("a mission queue with its active mission and goal", () => {
    expect(missionState(queue, stamp)).toBe(
      `{"metadata":${metadata},"missions":[${missionText}],"current_mission_index":0,"current_mission":${missionText},"current_goal":{"pose":{"x_meters":1.2,"y_meters":-3,"heading_radians":0}}}`,
    );
  });

  test("unset messages are null, unset members absent, and scalars there", () => {
    const bare: MissionQueue = {
      missions: [
        {
          missionId: "",
          state: { kind: "unrecognised", raw: 99 },
          goals: [{ kind: "none" }],
          currentGoalIndex: 0,
          feedback: null,
          type: { family: "none" },
          owner: "",
        },
        { ...mission, feedback: { family: "none" }, type: null, goals: [] },
      ],
      currentMissionIndex: -1,
    };
    expect(missionState(bare, { ...stamp, sourceTimeMs: null, sequence: null })).toBe(
      '{"metadata":null,"missions":[{"mission_id":"","state":99,"goals":[{}],"current_goal_index":0,"mission_feedback":null,"mission_type":{},"owner":""},{"mission_id":"m1","state":"STATE_RUNNING","goals":[],"current_goal_index":1,"mission_feedback":{},"mission_type":null,"owner":"api"}],"current_mission_index":-1,"current_mission":null,"current_goal":null}',
    );
  });

  test("metadata without a timestamp keeps its number", () => {
    const text = missionState({ missions: [], currentMissionIndex: -1 }, { ...stamp, sourceTimeMs: null });
    expect(text).toBe(
      '{"metadata":{"timestamp":null,"sequence_number":7},"missions":[],"current_mission_index":-1,"current_mission":null,"current_goal":null}',
    );
  });

  test("a battery and a conveyor", () => {
    expect(
      batteryState(
        { chargePercent: 0, state: "STATE_CHARGING", chargeMethod: { kind: "unrecognised", raw: 9 } },
        stamp,
      ),
    ).toBe(
      `{"metadata":${metadata},"battery_state":{"charge_percent":0,"state":"STATE_CHARGING","charge_method":9}}`,
    );
    expect(
      conveyorState({
        index: 2,
        operation: "OPERATION_STATE_ROLLING",
        payload: "PAYLOAD_STATE_LOADED",
        health: "HEALTH_STATE_OK",
        installation: "INSTALLATION_STATE_INSTALLED",
      }),
    ).toBe(
      '{"index":2,"operation_state":"OPERATION_STATE_ROLLING","payload_state":"PAYLOAD_STATE_LOADED","health_state":"HEALTH_STATE_OK","installation_state":"INSTALLATION_STATE_INSTALLED"}',
    );
  });
});

test("a lost value is not shown any more", () => {
  expect(envelope("r", "stale", stamp.receivedAtMs, "s", '{"a":1}')).toBe(
    '{"robot_id":"r","quality":"stale","received_at":"2026-01-02T03:04:05.078Z","session_id":"s","state":{"a":1}}',
  );
  expect(JSON.parse(envelope("r", "lost", stamp.receivedAtMs, "s", '{"a":1}'))).toMatchObject({
    quality: "lost",
    state: null,
  });
});

const plc1 = { source: { protocol: "mqtt", name: "plc1" }, requestId: "c1" } as const;

test("a transition names its event, both ends and our command", () => {
  const text = eventPayload(
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
  const told = JSON.parse(eventPayload(event, "s1"));
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
  const later = eventPayload({ ...event, from: "unknown", foundLater: "mission m1 is new" }, "s1");
  expect(JSON.parse(later)).toMatchObject({ from: "unknown", found_later: "mission m1 is new" });
});

test("an event of an earlier run says so, and which marks it has", () => {
  const event = { ...alarmEvent("a1", "r1"), sessionId: "s0", historical: true, jump: true } as const;
  expect(JSON.parse(eventPayload(event, "s1"))).toMatchObject({
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
  expect(JSON.parse(eventPayload(dropped, "s1"))).toEqual({ ...common, ...times, ...told });
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
  expect(JSON.parse(eventPayload(event, "s1"))).toEqual({
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
  const lapsed = eventPayload({ ...event, reason: "lapsed", by: null }, "s1");
  expect(JSON.parse(lapsed)).toMatchObject({ reason: "lapsed", by: null });
  const begun = eventPayload({ ...event, to: "leased", reason: "asked" }, "s1");
  expect(JSON.parse(begun)).toMatchObject({ from: "free", to: "leased" });
});

describe("values as text", () => {
  test("any string is what JSON.stringify makes of it", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => jsonText(text) === JSON.stringify(text)));
    for (const text of ["\u007f", "\u2028", "a\0b", "\ud800", "é", "😀"])
      expect(jsonText(text)).toBe(JSON.stringify(text));
  });

  test("a time is what Date makes of it, whatever was asked before", () => {
    const times = fc.array(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }));
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 40_000 }), (list, near) => {
        for (const time of [...list, near, near + 16_000, near])
          expect(isoTime(time)).toBe(new Date(time).toISOString());
      }),
    );
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300])("the clock may say %s", (time) => {
    expect(isoTime(time)).toBeNull();
  });

  test("floats are the shortest decimal; what JSON has no number for is text", () => {
    expect(jsonFloat(Math.fround(1.2))).toBe("1.2");
    expect(jsonFloat(-0)).toBe("0");
    expect(jsonFloat(Number.NaN)).toBe('"NaN"');
    expect(jsonFloat(Number.NEGATIVE_INFINITY)).toBe('"-Infinity"');
  });
});
