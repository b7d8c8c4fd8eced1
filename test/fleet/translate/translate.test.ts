import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  batteryFromProto,
  presenceFromJson,
  queueFromProto,
  stampFromProto,
  taskChainFromJson,
} from "../../../src/fleet/translate/messages.ts";
import { MalformedAnswer } from "../../../src/fleet/translate/snake-record.ts";
import { BatteryStateSchema } from "../../../src/wire/fleet/v1/battery_pb.js";
import { EventMetadataSchema } from "../../../src/wire/fleet/v1/common_pb.js";
import { MissionStateSchema, MissionStatesSchema } from "../../../src/wire/fleet/v1/mission_pb.js";

test("a mission keeps what the message says, and says what it does not", () => {
  const wire = create(MissionStatesSchema, {
    currentMissionIndex: 0,
    missions: [
      {
        missionId: "m1",
        state: 2,
        currentGoalIndex: 1,
        owner: "api",
        goals: [
          { goal: { case: "destinationId", value: "A" } },
          { goal: { case: "pose", value: { xMeters: 1.2, yMeters: -0.1, headingRadians: 3.14 } } },
          {},
        ],
        missionFeedback: { feedback: { case: "cartFeedback", value: { status: 2 } } },
        missionType: { type: { case: "cartType", value: 1 } },
      },
      { missionId: "m2", state: 99 as never, missionFeedback: {} },
    ],
  });
  const queue = queueFromProto(
    fromBinary(MissionStatesSchema, toBinary(MissionStatesSchema, wire)),
    undefined,
  );
  expect(queue).toEqual({
    currentMissionIndex: 0,
    missions: [
      {
        missionId: "m1",
        state: "STATE_RUNNING",
        goals: [
          { kind: "destination", destinationId: "A" },
          { kind: "pose", pose: { xMeters: 1.2, yMeters: -0.1, headingRadians: 3.14 } },
          { kind: "none" },
        ],
        currentGoalIndex: 1,
        feedback: { family: "cart", status: "STATUS_ARRIVED" },
        type: { family: "cart", type: "CART_TYPE_TRAVERSE" },
        owner: "api",
      },
      {
        missionId: "m2",
        state: { kind: "unrecognised", raw: 99 },
        goals: [],
        currentGoalIndex: 0,
        feedback: { family: "none" },
        type: null,
        owner: "",
      },
    ],
  });
});

test("where mission_states is unset, the legacy current mission stands in for it", () => {
  const legacy = create(MissionStateSchema, { missionId: "m1", state: 5 });
  expect(queueFromProto(undefined, legacy)).toMatchObject({
    currentMissionIndex: 0,
    missions: [{ missionId: "m1", state: "STATE_SUCCEEDED" }],
  });
  expect(queueFromProto(undefined, undefined)).toEqual({ missions: [], currentMissionIndex: -1 });
});

test.each([
  ["the last one that has ended", [5, 4, 1], 1],
  ["none before the first has begun", [1], -1],
  ["none, as sent, if one is under way all the same", [5, 3], -1],
  ["none in an empty list", [], -1],
])("where the service names no active mission, the index names %s", (_, states, index) => {
  const missions = states.map((state) => ({ state }));
  const wire = create(MissionStatesSchema, { missions, currentMissionIndex: -1 });
  expect(queueFromProto(wire, undefined).currentMissionIndex).toBe(index);
});

test("a battery's enums are names, or the number that has none", () => {
  const wire = create(BatteryStateSchema, { chargePercent: 80, state: 2, chargeMethod: 9 as never });
  expect(batteryFromProto(wire)).toEqual({
    chargePercent: 80,
    state: "STATE_DISCHARGING",
    chargeMethod: { kind: "unrecognised", raw: 9 },
  });
});

test("a stamp has the robot's time in whole milliseconds, and nulls where the message has none", () => {
  const metadata = create(EventMetadataSchema, {
    timestamp: { seconds: 1_700_000_000n, nanos: 123_999_999 },
    sequenceNumber: 5_000_000_000n,
  });
  expect(stampFromProto(metadata, 7)).toEqual({
    sourceTimeMs: 1_700_000_000_123,
    sequence: 5_000_000_000,
    receivedAtMs: 7,
  });
  expect(stampFromProto(undefined, 7)).toEqual({ sourceTimeMs: null, sequence: null, receivedAtMs: 7 });
});

test("an online robot is published in snake_case with every scalar, unset messages null", () => {
  const { name, presence } = presenceFromJson({
    id: "12",
    name: "cart-01",
    mapId: 3,
    pos: "ST-A",
    stateId: "ROBOT_STATE_IDLE",
    amrException: { exception: ["stuck"], exceptionCodes: [], level: 2 },
    somethingNew: true,
  });
  expect(name).toBe("cart-01");
  expect(presence).toMatchObject({ amrId: 12, mapId: 3, position: "ST-A", taskChainId: 0 });
  expect(presence.info).toEqual({
    id: "12",
    name: "cart-01",
    ip: "",
    area_id: 0,
    map_id: 3,
    map_name: "",
    pos: "ST-A",
    state: "",
    state_id: "ROBOT_STATE_IDLE",
    load_status: "",
    task_state: 0,
    task_chain_id: 0,
    task_id: 0,
    battery_percentile: 0,
    coordinate: null,
    materials: [],
    amr_exception: { exception: ["stuck"], exception_codes: [], level: 2 },
    un_finish_route: null,
  });
  const snake = presenceFromJson({ id: "12", name: "cart-01", map_id: 3, task_chain_id: 4 });
  expect(snake.presence).toMatchObject({ mapId: 3, taskChainId: 4 });
  // The number that means none is not documented.
  const free = presenceFromJson({ id: "12", name: "cart-01", taskChainId: -1 });
  expect(free.presence).toMatchObject({ taskChainId: 0, info: { task_chain_id: -1 } });
});

test.each([
  [[], "an object"],
  [{ id: "twelve" }, "a robot's number"],
  [{ id: "12", mapId: "here" }, "mapId should be a number"],
  [{ id: "12", materials: {} }, "materials should be a list"],
])("an answer of another shape is refused: %j", (json, message) => {
  expect(() => presenceFromJson(json as never)).toThrow(MalformedAnswer);
  expect(() => presenceFromJson(json as never)).toThrow(message);
});

test("a chain is finished when it has a finish time", () => {
  const chain = (finishTime: string) =>
    taskChainFromJson({
      taskChainState: { id: 4, amrId: 2, taskSeq: "s", status: "X", finishTime },
      taskStates: [],
    });
  expect(chain("")).toMatchObject({ chainId: 4, amrId: 2, taskSeq: "s", status: "X", finished: false });
  expect(chain("2026-01-01T00:00:00Z").finished).toBe(true);
  expect(() => taskChainFromJson({})).toThrow(MalformedAnswer);
});

test.each([
  [0n, 0],
  [9_007_199_254_740_991n, 9_007_199_254_740_991],
  [9_007_199_254_740_992n, null],
  [9_223_372_036_854_775_807n, null],
  [-1n, null],
])(
  "the sequence number %s is read as %s: what cannot be counted on from is none",
  (sequenceNumber, sequence) => {
    expect(stampFromProto(create(EventMetadataSchema, { sequenceNumber }), 5)).toMatchObject({ sequence });
  },
);
