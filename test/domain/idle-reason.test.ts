import { describe, expect, it } from "vitest";
import { type IdleFacts, type IdleReason, idleReasonOf } from "../../src/domain/idle-reason.ts";
import type {
  FeedbackStatusName,
  Mission,
  MissionQueue,
  MissionStateName,
  TaskChain,
} from "../../src/domain/mission.ts";
import type { Observed, Quality } from "../../src/domain/observed.ts";
import type { BatteryStateName, Conveyor, Presence } from "../../src/domain/robot.ts";

function observed<T>(value: T, quality: Quality = "good"): Observed<T> {
  return { value, quality, stamp: { sourceTimeMs: null, sequence: null, receivedAtMs: 1 } };
}

function mission(state: MissionStateName, status: FeedbackStatusName | null = null): Observed<MissionQueue> {
  const feedback = status === null ? null : ({ family: "cart", status } as const);
  const goals = [{ kind: "destination", destinationId: "Station A" }] as const;
  const one: Mission = {
    missionId: "m1",
    state,
    goals,
    currentGoalIndex: 0,
    feedback,
    type: null,
    owner: "api",
  };
  return observed({ missions: [one], currentMissionIndex: 0 });
}

function place(changed: Partial<Presence> = {}, quality: Quality = "good"): Observed<Presence> {
  const idle = { amrId: 7, mapId: 1, position: "P1", stateId: "ROBOT_STATE_IDLE", taskChainId: 0, info: {} };
  return observed({ ...idle, ...changed }, quality);
}

function chain(taskType: string, point: string, status = "TASK_STATUS_EXECUTING"): Observed<TaskChain> {
  const info = { task_states: [{ task_type: taskType, end_point_code: point, status }] };
  return observed({ chainId: 9, amrId: 7, taskSeq: "", status: "", finished: false, info });
}

const battery = (state: BatteryStateName) =>
  observed({ chargePercent: 50, state, chargeMethod: "CHARGE_METHOD_CONTACT" } as const);
const exception = (found: object) => place({ info: { amr_exception: found } });

function conveyor(health: Conveyor["health"], quality: Quality = "good"): Observed<Conveyor> {
  const rest = { operation: "OPERATION_STATE_STOP", payload: "PAYLOAD_STATE_EMPTY" } as const;
  return observed({ index: 1, ...rest, health, installation: "INSTALLATION_STATE_INSTALLED" }, quality);
}

const listed = (...found: readonly Observed<Conveyor>[]) => new Map(found.map((each, at) => [at, each]));
const noMission = observed<MissionQueue>({ missions: [], currentMissionIndex: -1 });
const nothing: IdleFacts = {
  quality: "good",
  heldBy: [],
  conveyors: new Map(),
  leasedBy: null,
  missions: undefined,
  presence: undefined,
  battery: undefined,
  chain: undefined,
};
const CONFIRM = "TASK_TYPE_SYSTEM_CONFIRM";
const paused = place({ taskChainId: 9, stateId: "ROBOT_STATE_PAUSED" });

describe("why a robot stands", () => {
  it.each<[string, Partial<IdleFacts>, IdleReason["reason"], string]>([
    ["nothing was heard", { quality: "unknown" }, "UNKNOWN", "no message of the robot has been received yet"],
    ["stale", { quality: "stale" }, "UNKNOWN", "the robot's values are stale: its stream is silent or cut"],
    [
      "stale and held",
      { quality: "stale", heldBy: ["opcua:a"] },
      "UNKNOWN",
      "the robot's values are stale: its stream is silent or cut",
    ],
    [
      "offline",
      { quality: "offline" },
      "UNKNOWN",
      "the robot is offline, or the fleet service is not reached",
    ],
    [
      "lost",
      { quality: "lost" },
      "UNKNOWN",
      "nothing has been known of the robot for longer than values are held",
    ],
    [
      "held",
      { heldBy: ["opcua:plc1", "cli:eva"], missions: mission("STATE_RUNNING") },
      "HELD",
      "held by opcua:plc1",
    ],
    [
      "exception",
      { presence: exception({ exception: ["Bumper"], exception_codes: [4], level: 2 }) },
      "EXCEPTION",
      "the robot reports: Bumper",
    ],
    [
      "code only",
      { presence: exception({ exception: [], exception_codes: [4], level: 2 }) },
      "EXCEPTION",
      "the robot reports: code 4, level 2",
    ],
    [
      "no exception",
      { missions: noMission, presence: exception({ exception: [], exception_codes: [], level: 0 }) },
      "IDLE",
      "the robot has neither a mission nor a task chain under way",
    ],
    ["mission paused", { missions: mission("STATE_PAUSED") }, "PAUSED", "its mission is paused"],
    [
      "resumed, and listed as paused",
      { missions: mission("STATE_RUNNING", "STATUS_NAVIGATING"), presence: paused },
      "PAUSED",
      "its mission runs, and the newest online list has it paused",
    ],
    ["chain paused", { presence: paused }, "PAUSED", "the robot is paused"],
    [
      "confirmation here",
      { presence: place({ taskChainId: 9 }), chain: chain(CONFIRM, "P1") },
      "WAITS_FOR_CONFIRMATION",
      "its task chain waits for a confirmation at P1",
    ],
    [
      "confirmation anywhere",
      { presence: place({ taskChainId: 9 }), chain: chain(CONFIRM, "") },
      "WAITS_FOR_CONFIRMATION",
      "its task chain waits for a confirmation",
    ],
    ["on its way to it", { presence: place({ taskChainId: 9 }), chain: chain(CONFIRM, "P2") }, "MOVING", ""],
    [
      "confirmed",
      { presence: place({ taskChainId: 9 }), chain: chain(CONFIRM, "P1", "TASK_STATUS_COMPLETED") },
      "MOVING",
      "",
    ],
    [
      "arrived",
      { missions: mission("STATE_RUNNING", "STATUS_ARRIVED") },
      "WAITS_AT_GOAL",
      "its mission waits at Station A: until its time is over, or the goal is skipped",
    ],
    ["drives", { missions: mission("STATE_RUNNING", "STATUS_NAVIGATING") }, "MOVING", ""],
    [
      "drives, just off the dock",
      { missions: mission("STATE_RUNNING", "STATUS_NAVIGATING"), battery: battery("STATE_CHARGING") },
      "MOVING",
      "",
    ],
    [
      "a charge mission",
      { missions: mission("STATE_RUNNING"), battery: battery("STATE_CHARGING") },
      "CHARGING",
      "the robot is charging",
    ],
    [
      "charges after it",
      { missions: mission("STATE_SUCCEEDED"), battery: battery("STATE_CHARGING") },
      "CHARGING",
      "the robot is charging",
    ],
    [
      "on its way to the dock",
      { missions: mission("STATE_RUNNING"), battery: battery("STATE_DISCHARGING") },
      "MOVING",
      "",
    ],
    [
      "faulty conveyor",
      { missions: noMission, conveyors: listed(conveyor("HEALTH_STATE_OK"), conveyor("HEALTH_STATE_ERROR")) },
      "CONVEYOR_ERROR",
      "conveyor 1 reports an error",
    ],
    [
      "a conveyor's error of which nothing is known now",
      { missions: noMission, conveyors: listed(conveyor("HEALTH_STATE_ERROR", "stale")) },
      "IDLE",
      "the robot has no mission under way",
    ],
    [
      "charges, and a conveyor is faulty",
      { battery: battery("STATE_CHARGING"), conveyors: listed(conveyor("HEALTH_STATE_ERROR")) },
      "CHARGING",
      "the robot is charging",
    ],
    [
      "drives, and a conveyor is faulty",
      {
        missions: mission("STATE_RUNNING", "STATUS_NAVIGATING"),
        conveyors: listed(conveyor("HEALTH_STATE_ERROR")),
        leasedBy: "Dock",
      },
      "MOVING",
      "",
    ],
    [
      "a faulty conveyor, and leased",
      { conveyors: listed(conveyor("HEALTH_STATE_ERROR")), leasedBy: "Dock" },
      "CONVEYOR_ERROR",
      "conveyor 1 reports an error",
    ],
    ["leased", { missions: noMission, leasedBy: "Dock" }, "LEASED", "leased by station Dock"],
    [
      "done",
      { missions: mission("STATE_SUCCEEDED", "STATUS_ARRIVED"), presence: place() },
      "IDLE",
      "the robot has neither a mission nor a task chain under way",
    ],
    [
      "an old list is no reason",
      { missions: noMission, presence: place({ taskChainId: 9 }, "stale") },
      "IDLE",
      "the robot has no mission under way",
    ],
    ["no message of its missions", { presence: place() }, "NO_REASON_KNOWN", "no reason known"],
    [
      "a mission of a state that says nothing",
      { missions: mission("STATE_DEFAULT"), presence: place() },
      "NO_REASON_KNOWN",
      "no reason known",
    ],
  ])("%s", (_case, facts, reason, text) => {
    const idleReason = idleReasonOf({ ...nothing, ...facts });
    expect([idleReason.reason, idleReason.text]).toEqual([reason, text]);
    expect(idleReason.isNotReady).toBe(reason === "UNKNOWN" || reason === "HELD");
  });
});
