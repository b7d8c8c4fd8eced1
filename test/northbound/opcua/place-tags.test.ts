import { afterAll, beforeAll, expect, it } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import type { Presence } from "../../../src/domain/robot.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import {
  batteryChange,
  conveyorChange,
  mission,
  missionChange,
  queueOf,
  receivedAtMs,
  robotChange,
} from "./changes.ts";
import { type Caller, noStations, openSession, type RunningServer, startServer } from "./opcua-harness.ts";

const clock = createManualClock(receivedAtMs);
const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs };
/** The station that leases r1. */
let leasedBy: string | null = null;
let running: RunningServer;
let caller: Caller;

beforeAll(async () => {
  const robots = [
    { robotId: "r1", alias: "AMR01", number: null, family: "cart", conveyorIndexes: [] },
  ] as const;
  const owner = { protocol: "opcua", name: "plc" } as const;
  const stations = {
    ...noStations,
    leaseOf: () => (leasedBy === null ? null : { station: leasedBy, owner, sinceMs: 0 }),
  };
  running = await startServer({ robots }, { clock, stations });
  caller = await openSession(running.url);
});
afterAll(async () => {
  await caller.close();
  await running.stop();
});

const write = (...changes: StateChange[]) => running.server.write({ changes, events: [] });

function place(changed: Partial<Presence>, quality: Quality = "good"): StateChange {
  const idle = { amrId: 7, mapId: 1, position: "P1", stateId: "ROBOT_STATE_IDLE", taskChainId: 0, info: {} };
  return { kind: "presence", robotId: "r1", observed: { value: { ...idle, ...changed }, quality, stamp } };
}

function chain(
  chainId: number,
  ...tasks: readonly (readonly [type: string, point: string, status: string])[]
): StateChange {
  const states = tasks.map(([type, point, status]) => ({ task_type: type, end_point_code: point, status }));
  const value = { chainId, amrId: 7, taskSeq: "", status: "TASK_CHAIN_STATUS_IN_PROGRESS", finished: false };
  return {
    kind: "task_chain",
    chainId,
    observed: { value: { ...value, info: { task_states: states } }, quality: "good", stamp },
  };
}

const leaseEvent: FleetEvent = {
  kind: "lease",
  eventId: "e1",
  robotId: "r1",
  atMs: receivedAtMs,
  station: "Dock",
  owner: { protocol: "opcua", name: "plc" },
  to: "leased",
  reason: "asked",
  by: null,
};

/** The tags under the robot, by name: the value, or the status of one that has none. */
async function shown(...names: string[]): Promise<unknown[]> {
  const found = names.map(async (name) => {
    const { value, statusCode } = await caller.read(`Robots.AMR01.${name}`);
    if (!statusCode.isGoodish()) return statusCode.name;
    return ArrayBuffer.isView(value.value) ? Array.from(value.value as Int32Array) : value.value;
  });
  return Promise.all(found);
}

const filled = <T>(length: number, rest: T, ...first: T[]) => [
  ...first,
  ...new Array<T>(length - first.length).fill(rest),
];

it("the goals of the current mission: the first 16, poses in mm too", async () => {
  const pose = { xMeters: 1.5, yMeters: -0.25, headingRadians: 2 };
  const goals = [
    { kind: "destination", destinationId: "Dock A" },
    { kind: "pose", pose },
  ] as const;
  write(missionChange("r1", queueOf(mission("m1", { goals }))));
  expect(await shown("Mission.Goals", "Mission.GoalXMm", "Mission.GoalYMm")).toEqual([
    filled(16, "", "Dock A", "pose 1.5 -0.25 2"),
    filled(16, 0, 0, 1_500),
    filled(16, 0, 0, -250),
  ]);
  const many = Array.from(
    { length: 20 },
    (_, at) => ({ kind: "destination", destinationId: `D${at}` }) as const,
  );
  write(missionChange("r1", queueOf(mission("m2", { goals: many }))));
  expect(await shown("Mission.Goals", "Mission.GoalCount")).toEqual([
    many.slice(0, 16).map((goal) => goal.destinationId),
    20,
  ]);
  const far = { kind: "pose", pose: { xMeters: 1e30, yMeters: Number.NaN, headingRadians: 0 } } as const;
  const long = { kind: "destination", destinationId: "D".repeat(255) } as const;
  write(missionChange("r1", queueOf(mission("m3", { goals: [far, long] }))));
  expect(await shown("Mission.Goals", "Mission.GoalXMm", "Mission.GoalYMm")).toEqual([
    "BadOutOfRange",
    filled(16, 0),
    filled(16, 0),
  ]);
  write(missionChange("r1", queueOf()));
  expect(await shown("Mission.Goals")).toEqual([filled(16, "")]);
});

it("the place with its age, which grows while the robot is not listed", async () => {
  const names = ["Position.X", "Position.Y", "Position.Heading", "Position.AgeSeconds"];
  write(place({}));
  expect(await shown(...names)).toEqual([...new Array(3).fill("BadNoDataAvailable"), 0]);
  write(place({ info: { coordinate: { x: 3.5, y: 6, theta: -1.5 } } }));
  clock.advance(5_000);
  expect(await shown(...names)).toEqual([3.5, 6, -1.5, 0]);
  write(place({ info: { coordinate: { x: 3.5, y: 6, theta: -1.5 } } }, "offline"));
  clock.jump(3_600_000);
  clock.advance(5_000);
  expect((await shown("Position.AgeSeconds"))[0]).toBe(5);
  write(place({}, "lost"));
  clock.advance(5_000);
  expect(await shown("Position.X", "TaskChain.Id", "AmrException.Level")).toEqual(
    new Array(3).fill("BadNoCommunication"),
  );
  clock.jump(-3_600_000);
  expect((await shown("Position.AgeSeconds"))[0]).toBe(10);
  write(place({}));
  expect(await shown("Position.AgeSeconds")).toEqual([0]);
});

it("the exceptions under the names of their field", async () => {
  write(
    place({
      info: { amr_exception: { exception: ["Bumper", { code: 4 }], exception_codes: [12], level: 2 } },
    }),
  );
  expect(await shown("AmrException.Exception", "AmrException.ExceptionCodes", "AmrException.Level")).toEqual([
    filled(8, "", "Bumper", '{"code":4}'),
    filled(8, "", "12"),
    2,
  ]);
  write(place({ info: { amr_exception: null } }));
  expect(await shown("AmrException.Exception", "AmrException.Level")).toEqual([filled(8, ""), 0]);
});

it("the chain that the robot executes, whichever of both is heard of first", async () => {
  const names = [
    "Id",
    "Status",
    "TaskCount",
    "CurrentTaskIndex",
    "CurrentTaskType",
    "CurrentTaskPoint",
    "WaitsForConfirmation",
  ].map((name) => `TaskChain.${name}`);
  const load = ["TASK_TYPE_LOAD", "P2", "TASK_STATUS_COMPLETED"] as const;
  const confirm = (point: string) => ["TASK_TYPE_SYSTEM_CONFIRM", point, "TASK_STATUS_EXECUTING"] as const;
  write(place({ taskChainId: 9 }));
  const waiting = "BadWaitingForInitialData";
  expect(await shown(...names)).toEqual([9, waiting, waiting, waiting, waiting, waiting, waiting]);
  write(chain(9, load, confirm("P3")));
  const executing = [9, "TASK_CHAIN_STATUS_IN_PROGRESS", 2, 1, "TASK_TYPE_SYSTEM_CONFIRM"];
  expect(await shown(...names)).toEqual([...executing, "P3", false]);
  write(place({ taskChainId: 9, position: "P3" }));
  expect(await shown(...names)).toEqual([...executing, "P3", true]);
  write(chain(10, confirm("")));
  write(place({ taskChainId: 10 }));
  expect(await shown("TaskChain.Id", "TaskChain.WaitsForConfirmation")).toEqual([10, true]);
  // News of another chain are not the robot's.
  write(chain(9, load));
  expect(await shown("TaskChain.Id", "TaskChain.TaskCount")).toEqual([10, 1]);
  write({ kind: "task_chain_evicted", chainId: 10 });
  expect(await shown("TaskChain.Status")).toEqual([waiting]);
  write(place({}));
  expect(await shown(...names)).toEqual([0, "", 0, -1, "", "", false]);
});

it("why the robot stands, from the same rule as NotReadyReason", async () => {
  const names = ["StandReason", "StandText", "ReadyForCommand", "NotReadyReason"];
  write(robotChange("r1", "good"), missionChange("r1", queueOf()), place({}), batteryChange("r1", 50));
  expect(await shown(...names)).toEqual([7, "the robot is charging", true, ""]);
  write(
    missionChange("r1", queueOf(mission("m1", { feedback: { family: "cart", status: "STATUS_ARRIVED" } }))),
  );
  expect(await shown(...names)).toEqual([
    6,
    "its mission waits at Dock B: until its time is over, or the goal is skipped",
    true,
    "",
  ]);
  write(missionChange("r1", queueOf()), place({}), batteryChange("r1", 50, "lost"));
  const nothing = "the robot has neither a mission nor a task chain under way";
  expect(await shown(...names)).toEqual([8, nothing, true, ""]);
  leasedBy = "Dock";
  running.server.write({ changes: [], events: [leaseEvent] });
  expect(await shown(...names)).toEqual([10, "leased by station Dock", true, ""]);
  write(conveyorChange("r1", 1, { health: "HEALTH_STATE_ERROR" }));
  expect(await shown(...names)).toEqual([9, "conveyor 1 reports an error", true, ""]);
  write(robotChange("r1", "stale"));
  const stale = "the robot's values are stale: its stream is silent or cut";
  expect(await shown(...names)).toEqual([0, stale, false, stale]);
});
