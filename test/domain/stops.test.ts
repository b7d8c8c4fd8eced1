import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Coded } from "../../src/domain/coded.ts";
import { type Mission, type MissionStateName, missionStateNames } from "../../src/domain/mission.ts";
import { type Observed, type Quality, qualities } from "../../src/domain/observed.ts";
import type { Conveyor, Presence } from "../../src/domain/robot.ts";
import { activitiesOf, activityKey, type RobotSight, stopsOf } from "../../src/domain/stops.ts";

const nothing: RobotSight = { missions: undefined, presence: undefined, conveyors: [] };

function observed<T>(value: T, quality: Quality = "good", receivedAtMs = 1): Observed<T> {
  return { value, stamp: { sourceTimeMs: null, sequence: null, receivedAtMs }, quality };
}

function mission(missionId: string, state: Coded<MissionStateName>): Mission {
  return { missionId, state, goals: [], currentGoalIndex: 0, feedback: null, type: null, owner: "api" };
}

function at(current: number, ...missions: Mission[]): RobotSight {
  return { ...nothing, missions: observed({ missions, currentMissionIndex: current }) };
}

function conveyor(
  index: number,
  operation: Conveyor["operation"],
  quality: Quality = "good",
  receivedAtMs = 1,
): Observed<Conveyor> {
  const value: Conveyor = {
    index,
    operation,
    payload: "PAYLOAD_STATE_EMPTY",
    health: "HEALTH_STATE_OK",
    installation: "INSTALLATION_STATE_INSTALLED",
  };
  return observed(value, quality, receivedAtMs);
}

function presence(taskChainId: number, stateId: string, quality: Quality = "good"): Observed<Presence> {
  return observed({ amrId: 101, mapId: 1, position: "P1", stateId, taskChainId, info: {} }, quality);
}

const stops = (sight: RobotSight) => stopsOf(activitiesOf(sight)).map(({ stop }) => stop);

describe("what stops a robot now", () => {
  it("is nothing where nothing was seen", () => {
    expect(stops(nothing)).toEqual([]);
  });

  it("is a pause of its current mission, and of no other, while that runs", () => {
    const paused = [{ kind: "pause_mission", missionId: "m2" }];
    const queue = [
      mission("m1", "STATE_SUCCEEDED"),
      mission("m2", "STATE_RUNNING"),
      mission("m3", "STATE_DEFAULT"),
    ];
    expect(stops(at(1, ...queue))).toEqual(paused);
    expect(stops(at(-1, ...queue))).toEqual([]);
  });

  it.each([
    ["STATE_RUNNING", 1],
    ["STATE_UNKNOWN", 1],
    [{ kind: "unrecognised", raw: 9 }, 1],
    ["STATE_DEFAULT", 0],
    ["STATE_PAUSED", 0],
    ["STATE_CANCELED", 0],
    ["STATE_SUCCEEDED", 0],
    ["STATE_FAILED", 0],
  ] as const)("of a mission in state %j: %d", (state, count) => {
    expect(stops(at(0, mission("m", state)))).toHaveLength(count);
  });

  it("is a pause of the robot, by its number, while it executes a task chain and is not paused", () => {
    const of = (...args: Parameters<typeof presence>) => stops({ ...nothing, presence: presence(...args) });
    expect(of(7, "ROBOT_STATE_EXECUTING")).toEqual([{ kind: "pause_chain", amrId: 101 }]);
    expect(of(7, "ROBOT_STATE_EXECUTING", "lost")).toEqual([{ kind: "pause_chain", amrId: 101 }]);
    expect(of(7, "ROBOT_STATE_PAUSED")).toEqual([]);
    expect(of(0, "ROBOT_STATE_EXECUTING")).toEqual([]);
  });

  it("is one stop of the conveyors that roll, and another of those in doubt", () => {
    const conveyors = [
      conveyor(0, "OPERATION_STATE_ROLLING"),
      conveyor(1, "OPERATION_STATE_STOP"),
      conveyor(2, "OPERATION_STATE_UNKNOWN"),
      conveyor(3, { kind: "unrecognised", raw: 9 }),
      conveyor(4, "OPERATION_STATE_ROLLING"),
    ];
    expect(stops({ ...nothing, conveyors })).toEqual([
      { kind: "stop_conveyors", indexes: [0, 4] },
      { kind: "stop_conveyors", indexes: [2, 3] },
    ]);
  });

  it("doubts a conveyor that stood when it was good last, and leaves out one that is not listed any more", () => {
    const stale = [conveyor(0, "OPERATION_STATE_STOP", "stale"), conveyor(1, "OPERATION_STATE_STOP", "lost")];
    expect(stops({ ...nothing, conveyors: stale })).toEqual([{ kind: "stop_conveyors", indexes: [0, 1] }]);
    // The wall clock was set back between the two messages: the time of receipt shows no order.
    const isGone = { ...conveyor(1, "OPERATION_STATE_ROLLING", "lost", 9), isGone: true } as const;
    expect(stops({ ...nothing, conveyors: [...stale, isGone].slice(1) })).toEqual([
      { kind: "stop_conveyors", indexes: [1] },
    ]);
    expect(
      stops({ ...nothing, conveyors: [conveyor(0, "OPERATION_STATE_STOP", "good", 2), isGone] }),
    ).toEqual([]);
  });
});

it("calls seen only what a good value shows under way", () => {
  const sight = (quality: Quality): RobotSight => ({
    missions: { ...observed({ missions: [mission("m", "STATE_RUNNING")], currentMissionIndex: 0 }), quality },
    presence: presence(7, "ROBOT_STATE_EXECUTING", quality),
    conveyors: [conveyor(0, "OPERATION_STATE_ROLLING", quality)],
  });
  for (const quality of qualities) {
    const seen = activitiesOf(sight(quality));
    expect(seen.map(({ activity }) => activityKey(activity))).toEqual(["mission m", "chain 7", "conveyor 0"]);
    expect(seen.every(({ isSeen }) => isSeen === (quality === "good"))).toBe(true);
  }
});

it("stops each activity exactly once, whatever is seen", () => {
  const quality = fc.constantFrom(...qualities);
  const operation = fc.constantFrom(
    "OPERATION_STATE_UNKNOWN" as const,
    "OPERATION_STATE_ROLLING" as const,
    "OPERATION_STATE_STOP" as const,
  );
  const sights = fc.record({
    missions: fc.tuple(fc.constantFrom(...missionStateNames), quality).map(([state, seen]) => ({
      ...observed({ missions: [mission("m", state)], currentMissionIndex: 0 }),
      quality: seen,
    })),
    presence: fc
      .tuple(fc.nat(2), quality)
      .map(([chain, seen]) => presence(chain, "ROBOT_STATE_EXECUTING", seen)),
    conveyors: fc
      .array(fc.tuple(operation, quality), { maxLength: 4 })
      .map((list) => list.map(([state, seen], index) => conveyor(index, state, seen))),
  });
  fc.assert(
    fc.property(sights, (sight) => {
      const activities = activitiesOf(sight);
      const planned = stopsOf(activities);
      expect(planned.flatMap(({ ends }) => ends).length).toBe(activities.length);
      const stopped = planned.flatMap(({ stop }) =>
        stop.kind === "stop_conveyors"
          ? stop.indexes.map((index) => `conveyor ${index}`)
          : [
              stop.kind === "pause_mission"
                ? `mission ${stop.missionId}`
                : `chain ${sight.presence.value.taskChainId}`,
            ],
      );
      expect([...stopped].sort()).toEqual(activities.map(({ activity }) => activityKey(activity)).sort());
      for (const { value, quality: seen } of sight.conveyors) {
        const stands = value.operation === "OPERATION_STATE_STOP" && seen === "good";
        expect(stopped.includes(`conveyor ${value.index}`)).toBe(!stands);
      }
    }),
  );
});
