import { expect, it } from "vitest";
import type { StateChange } from "../../src/domain/change.ts";
import type { Quality } from "../../src/domain/observed.ts";
import { createLive } from "../../src/platform/live.ts";
import { createAlarmConditions } from "../../src/state/alarm-conditions.ts";
import { createAlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createManualClock } from "../support/manual-clock.ts";

const LONGER_THAN_ANY_DELAY_MS = 600_000;

function openConditions() {
  const nothing = { alarms: [], outOfService: [], lastId: 0 };
  const clock = createManualClock();
  const registry = createAlarmRegistry(clock, nothing, () => "event");
  const conditions = createAlarmConditions(registry, createLive({ low: 20, critical: 10 }));
  /** The alarms that stand when these changes have lasted. */
  const standing = (...changes: readonly StateChange[]) => {
    for (const change of changes) conditions.handle(change);
    clock.advance(LONGER_THAN_ANY_DELAY_MS);
    registry.take();
    return registry
      .all()
      .filter(({ isActive }) => isActive)
      .map(({ code, text }) => [code, text]);
  };
  return standing;
}

let sequence = 0;
function observed<V>(value: V, quality: Quality = "good") {
  sequence += 1;
  return { value, stamp: { sourceTimeMs: 0, sequence, receivedAtMs: 0 }, quality };
}
const presence = (amrException: object | undefined, quality?: Quality): StateChange => {
  const info = amrException === undefined ? {} : { amr_exception: amrException };
  const value = { amrId: 1, mapId: 1, position: "P1", stateId: "", taskChainId: 0, info };
  return { kind: "presence", robotId: "r1", observed: observed(value, quality) };
};
const missions = (...states: readonly string[]): StateChange => {
  const list = states.map((state, index) => ({ missionId: `m${index + 1}`, state }));
  const value = { missions: list, currentMissionIndex: 0 } as never;
  return { kind: "mission", robotId: "r1", observed: observed(value) };
};
const battery = (chargePercent: number, state = "STATE_DISCHARGING"): StateChange =>
  ({ kind: "battery", robotId: "r1", observed: observed({ chargePercent, state }) }) as never;
const conveyor = (health: string): StateChange =>
  ({ kind: "conveyor", robotId: "r1", observed: observed({ index: 2, health }) }) as never;
/** It is listed no more. */
const noConveyor = (): StateChange => {
  const gone = { ...observed({ index: 2, health: "HEALTH_STATE_ERROR" }, "lost"), isGone: true };
  return { kind: "conveyor", robotId: "r1", observed: gone } as never;
};

it("an exception of a robot stands until a true message has none", () => {
  const standing = openConditions();
  const exception = ["ROBOT_EXCEPTION", "bumper pressed (code 17, level 2)"];
  expect(standing(presence(undefined))).toEqual([]);
  const stuck = { exception: ["bumper pressed"], exception_codes: ["17"], level: 2 };
  expect(standing(presence(stuck))).toEqual([exception]);
  expect(standing(presence(undefined, "stale"))).toEqual([exception]);
  expect(standing(presence(undefined))).toEqual([]);
});

it("a mission that has failed stands until a later one has begun", () => {
  const standing = openConditions();
  const failed = ["MISSION_FAILED", "mission m2 failed"];
  expect(standing(missions("STATE_SUCCEEDED", "STATE_RUNNING"))).toEqual([]);
  expect(standing(missions("STATE_SUCCEEDED", "STATE_FAILED"))).toEqual([failed]);
  // The next one waits.
  expect(standing(missions("STATE_SUCCEEDED", "STATE_FAILED", "STATE_DEFAULT"))).toEqual([failed]);
  // A list without missions says nothing of them.
  expect(standing(missions())).toEqual([failed]);
  expect(standing(missions("STATE_SUCCEEDED", "STATE_FAILED", "STATE_RUNNING"))).toEqual([]);
});

it("a low charge stands until five percent more, or until it is charged", () => {
  const standing = openConditions();
  const low = ["BATTERY_LOW", "the battery has 20 % or less"];
  const critical = ["BATTERY_CRITICAL", "the battery has 10 % or less"];
  expect(standing(battery(21))).toEqual([]);
  expect(standing(battery(20))).toEqual([low]);
  expect(standing(battery(25))).toEqual([low]);
  expect(standing(battery(26))).toEqual([]);
  expect(standing(battery(10))).toEqual(expect.arrayContaining([low, critical]));
  expect(standing(battery(10, "STATE_CHARGING"))).toEqual([]);
});

it("a conveyor's error ends with the conveyor", () => {
  const standing = openConditions();
  const error = ["CONVEYOR_ERROR_2", "conveyor 2 reports an error"];
  expect(standing(conveyor("HEALTH_STATE_OK"))).toEqual([]);
  expect(standing(conveyor("HEALTH_STATE_ERROR"))).toEqual([error]);
  expect(standing(noConveyor())).toEqual([]);
  expect(standing(conveyor("HEALTH_STATE_ERROR"))).toEqual([error]);
  expect(standing(conveyor("HEALTH_STATE_OK"))).toEqual([]);
});

it("a robot is lost while it is, and not while nothing is known of it yet", () => {
  const standing = openConditions();
  const robot = (quality: Quality): StateChange => ({
    kind: "robot",
    robotId: "r1",
    family: "cart",
    quality,
  });
  expect(standing(robot("unknown"))).toEqual([]);
  expect(standing(robot("lost"))).toEqual([["ROBOT_LOST", "nothing known of the robot is true any more"]]);
  expect(standing(robot("stale"))).toEqual([]);
});
