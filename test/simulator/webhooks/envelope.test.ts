import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { RobotUpdate } from "../../../src/simulator/service/contract.ts";
import { eventSchema, renderEnvelope } from "../../../src/simulator/webhooks/envelope.ts";
import { readFilter } from "../../../src/simulator/webhooks/filter.ts";
import { readTemplate } from "../../../src/simulator/webhooks/subscription.ts";
import { MissionEventStateSchema } from "../../../src/wire/fleet/v1/mission_pb.js";
import { FieldFilterSchema } from "../../../src/wire/fleet/v1/webhook_pb.js";

const mission = {
  missionId: "m-1",
  state: 2,
  goals: [
    { goal: { case: "destinationId" as const, value: "Station A" } },
    { goal: { case: "pose" as const, value: { xMeters: 1.2, yMeters: -0.1, headingRadians: 0 } } },
  ],
  currentGoalIndex: 1,
  missionFeedback: { feedback: { case: "cartFeedback" as const, value: { status: 77 } } },
  missionType: { type: { case: "cartType" as const, value: 1 } },
  owner: "api",
};
const running: RobotUpdate = {
  eventType: "mission",
  robotId: "cart-1",
  state: create(MissionEventStateSchema, {
    metadata: { timestamp: { seconds: 1_795_211_269n, nanos: 999_999 }, sequenceNumber: 41n },
    missions: [mission],
    currentMissionIndex: 0,
    currentMission: mission,
    currentGoal: mission.goals[1] ?? {},
  }),
};
const idle: RobotUpdate = {
  eventType: "mission",
  robotId: "cart-1",
  state: create(MissionEventStateSchema, { currentMissionIndex: -1 }),
};

test("the envelope is snake_case, whole, and in the order of the field numbers", () => {
  const state =
    '{"mission_id":"m-1","state":"STATE_RUNNING","goals":[{"destination_id":"Station A"},' +
    '{"pose":{"x_meters":1.2,"y_meters":-0.1,"heading_radians":0}}],"current_goal_index":1,' +
    '"mission_feedback":{"cart_feedback":{"status":77}},"mission_type":{"cart_type":"CART_TYPE_TRAVERSE"},"owner":"api"}';
  expect(JSON.stringify(renderEnvelope(running))).toBe(
    '{"robot_id":"cart-1","state":{"metadata":{"timestamp":"2026-11-20T21:47:49.000Z","sequence_number":41},' +
      `"missions":[${state}],"current_mission_index":0,"current_mission":${state},` +
      '"current_goal":{"pose":{"x_meters":1.2,"y_meters":-0.1,"heading_radians":0}}}}',
  );
});

test("what is not set is null where it is a message, and the default where it is a scalar", () => {
  expect(JSON.stringify(renderEnvelope(idle))).toBe(
    '{"robot_id":"cart-1","state":{"metadata":null,"missions":[],"current_mission_index":-1,"current_mission":null,"current_goal":null}}',
  );
});

function matches(field: string, values: string[], event: RobotUpdate): boolean {
  const schema = eventSchema("mission");
  if (schema === undefined) throw new Error("there is no mission event");
  return readFilter(schema, create(FieldFilterSchema, { field, values, operator: 1 }))(event.state);
}

test.each([
  ["state.current_mission.state", ["STATE_PAUSED", "STATE_RUNNING"], true],
  ["state.current_mission.state", ["STATE_PAUSED"], false],
  ["state.missions.0.mission_id", ["m-1"], true],
  ["state.missions.1.mission_id", ["m-1", ""], false],
  ["state.current_goal.pose.x_meters", ["1.20"], true],
  ["state.current_goal.pose.heading_radians", ["0"], true],
  ["state.current_goal.destination_id", [""], false],
  ["state.missions.0.goals.0.pose.x_meters", ["0"], false],
  ["state.metadata.sequence_number", ["42"], false],
  ["state.metadata.sequence_number", ["41"], true],
  ["state.metadata.timestamp", ["2026-11-20T22:47:49+01:00"], true],
  ["state.current_mission.mission_type.cart_type", ["CART_TYPE_TRAVERSE"], true],
  ["state.current_mission.mission_type.base_type", ["BASE_TYPE_UNKNOWN"], true],
])("a filter on %s with %j matches: %s", (field, values, expected) => {
  expect(matches(field, values, running)).toBe(expected);
});

test("a path into an unset message never matches, not even the empty value", () => {
  expect(matches("state.current_mission.owner", [""], idle)).toBe(false);
});

test("placeholders render scalars as text, and what is absent as nothing", () => {
  const schema = eventSchema("mission");
  if (schema === undefined) throw new Error("there is no mission event");
  const render = readTemplate(schema, {
    who: "{{robot_id}}/{{ state.current_mission.state }}",
    pose: "{{state.current_goal.pose.x_meters}}|{{state.current_goal.destination_id}}|{{state.missions.7.owner}}",
    at: "{{state.metadata.timestamp}} #{{state.metadata.sequence_number}}",
    kept: { n: 1.5, yes: true, none: null, list: ["{{robot_id}}", 2] },
  });
  expect(render(running)).toEqual({
    who: "cart-1/STATE_RUNNING",
    pose: "1.2||",
    at: "2026-11-20T21:47:49.000Z #41",
    kept: { n: 1.5, yes: true, none: null, list: ["cart-1", 2] },
  });
  expect(render(idle)).toMatchObject({ who: "cart-1/", at: " #" });
});
