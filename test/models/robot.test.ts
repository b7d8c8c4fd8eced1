import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Coded } from "../../src/domain/coded.ts";
import {
  feedbackStatusNames,
  type Goal,
  type Mission,
  type MissionQueue,
  missionStateNames,
  missionTypeNames,
} from "../../src/domain/mission.ts";
import { batteryText, conveyorText, missionModel, missionOf, missionText } from "../../src/models/robot.ts";
import { mission, queue, stamp } from "../northbound/mqtt/mqtt-harness.ts";

const metadata = '{"timestamp":"2026-01-02T03:04:05.006Z","sequence_number":7}';
const m1 =
  '{"mission_id":"m1","state":"STATE_RUNNING","goals":[{"destination_id":"Shelf \\"A\\""},{"pose":{"x_meters":1.2,"y_meters":-3,"heading_radians":0}}],"current_goal_index":1,"mission_feedback":{"cart_feedback":{"status":"STATUS_NAVIGATING"}},"mission_type":{"cart_type":"CART_TYPE_TRAVERSE"},"owner":"api"}';

describe("state, byte for byte the webhook's", () => {
  test("a mission queue with its active mission and goal", () => {
    expect(missionText(queue, stamp)).toBe(
      `{"metadata":${metadata},"missions":[${m1}],"current_mission_index":0,"current_mission":${m1},"current_goal":{"pose":{"x_meters":1.2,"y_meters":-3,"heading_radians":0}}}`,
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
    expect(missionText(bare, { ...stamp, sourceTimeMs: null, sequence: null })).toBe(
      '{"metadata":null,"missions":[{"mission_id":"","state":99,"goals":[{}],"current_goal_index":0,"mission_feedback":null,"mission_type":{},"owner":""},{"mission_id":"m1","state":"STATE_RUNNING","goals":[],"current_goal_index":1,"mission_feedback":{},"mission_type":null,"owner":"api"}],"current_mission_index":-1,"current_mission":null,"current_goal":null}',
    );
  });

  test("metadata without a timestamp keeps its number", () => {
    const text = missionText({ missions: [], currentMissionIndex: -1 }, { ...stamp, sourceTimeMs: null });
    expect(text).toBe(
      '{"metadata":{"timestamp":null,"sequence_number":7},"missions":[],"current_mission_index":-1,"current_mission":null,"current_goal":null}',
    );
  });

  test("a battery and a conveyor", () => {
    expect(
      batteryText(
        { chargePercent: 0, state: "STATE_CHARGING", chargeMethod: { kind: "unrecognised", raw: 9 } },
        stamp,
      ),
    ).toBe(
      `{"metadata":${metadata},"battery_state":{"charge_percent":0,"state":"STATE_CHARGING","charge_method":9}}`,
    );
    expect(
      conveyorText({
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

describe("a mission queue of any kind", () => {
  const code = <Name extends string>(names: readonly Name[]): fc.Arbitrary<Coded<Name>> =>
    fc.oneof(
      fc.constantFrom(...names),
      fc.record({ kind: fc.constant("unrecognised" as const), raw: fc.nat() }),
    );
  const float = fc.float({ noDefaultInfinity: false });
  const goal: fc.Arbitrary<Goal> = fc.oneof(
    fc.record({ kind: fc.constant("destination" as const), destinationId: fc.string({ unit: "binary" }) }),
    fc.record({
      kind: fc.constant("pose" as const),
      pose: fc.record({ xMeters: float, yMeters: float, headingRadians: float }),
    }),
    fc.constant({ kind: "none" as const }),
  );
  const family = fc.constantFrom("base" as const, "serve" as const, "cart" as const);
  const none = fc.constant({ family: "none" as const });
  const one: fc.Arbitrary<Mission> = family.chain((its) =>
    fc.record({
      missionId: fc.string({ unit: "binary" }),
      state: code(missionStateNames),
      goals: fc.array(goal, { maxLength: 3 }),
      currentGoalIndex: fc.integer({ min: -1, max: 3 }),
      feedback: fc.option(
        fc.oneof(none, fc.record({ family: fc.constant(its), status: code(feedbackStatusNames) })),
      ),
      type: fc.option(
        fc.oneof(none, fc.record({ family: fc.constant(its), type: code(missionTypeNames[its]) })),
      ),
      owner: fc.string({ unit: "binary" }),
    }),
  );
  const any: fc.Arbitrary<MissionQueue> = fc.record({
    missions: fc.array(one, { maxLength: 3 }),
    currentMissionIndex: fc.integer({ min: -1, max: 3 }),
  });

  test("has the shape of its model, and is the text that MQTT publishes", () => {
    fc.assert(
      fc.property(any, (each) => {
        const state = missionOf(each, stamp);
        expect(missionModel.parse(state)).toEqual(state);
        expect(JSON.stringify(state)).toBe(missionText(each, stamp));
        expect(state.current_mission).toEqual(state.missions[each.currentMissionIndex] ?? null);
      }),
    );
  });
});
