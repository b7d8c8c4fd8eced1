import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { TestRobot } from "./contract-harness.ts";
import { navigate, tasks } from "./requests.ts";
import { contractTests, type Service } from "./service.ts";

const { overHttp } = contractTests();
const LONG_MS = 60_000;

interface ChainView {
  readonly amrId: number;
  readonly status: string;
  readonly finishTime: string;
  readonly tasks: ReadonlyArray<{
    readonly point: string;
    readonly status: string;
    readonly finishTime: string;
  }>;
}

/** A chain as QueryTaskChain tells it, its words without what all of them begin with. */
async function queried({ done }: Service, chainId: number): Promise<ChainView> {
  const { taskChains } = (await done("QueryTaskChain", { task_chain_ids: [chainId] })) as {
    taskChains: Array<{
      taskChainState: { amrId: number; status: string; finishTime: string };
      taskStates: Array<{ endPointCode: string; status: string; finishTime: string }>;
    }>;
  };
  const [info] = taskChains;
  if (info === undefined) throw new Error(`chain ${chainId} is not there`);
  const { amrId, status, finishTime } = info.taskChainState;
  return {
    amrId,
    status: status.replace("TASK_CHAIN_STATUS_", ""),
    finishTime,
    tasks: info.taskStates.map((task) => ({
      point: task.endPointCode,
      status: task.status.replace("TASK_STATUS_", ""),
      finishTime: task.finishTime,
    })),
  };
}

const taskStatuses = async (service: Service, chainId: number) =>
  (await queried(service, chainId)).tasks.map(({ status }) => status);

type Steps = ReadonlyArray<readonly [string, string]>;

/** Gives a robot a chain. @returns its id. */
async function added(
  service: Service,
  robot: TestRobot,
  steps: Steps,
  chain: JsonObject = {},
): Promise<number> {
  const { taskChainId } = await service.done("AddTaskChain", {
    taskChain: { amrId: robot.amrId, ...chain },
    tasks: tasks(robot.mapId, ...steps),
  });
  return Number(taskChainId);
}

/** A robot as GetOnlineRobots tells it. */
async function online({ done }: Service, { amrId }: TestRobot) {
  const { robots } = (await done("GetOnlineRobots", {})) as {
    robots: Array<{
      id: string;
      stateId: string;
      taskChainId: number;
      coordinate: { x: number; y: number };
    }>;
  };
  const found = robots.find(({ id }) => id === String(amrId));
  if (found === undefined) throw new Error(`robot ${amrId} is not online`);
  return found;
}

const twoLoads = ({ codes }: TestRobot): Steps => [
  ["LOAD", codes[0]],
  ["UNLOAD", codes[1]],
];

overHttp("TRN-11 On a chain + PauseRobot, stop_now true: paused, it stops at once", async (service) => {
  const robot = service.fresh("aisle");
  await added(service, robot, twoLoads(robot));
  service.clock.advance(3_000);
  await service.done("PauseRobot", { amr_id: robot.amrId, stop_now: true });
  const { coordinate, stateId } = await online(service, robot);
  expect(stateId).toBe("ROBOT_STATE_PAUSED");
  expect(coordinate.x).toBeCloseTo(13, 0);
  service.clock.advance(LONG_MS);
  expect((await online(service, robot)).coordinate).toEqual(coordinate);
});

overHttp("TRN-12 On a chain + PauseRobot, stop_now false: paused at the next waypoint", async (service) => {
  const robot = service.fresh("aisle");
  await added(service, robot, twoLoads(robot));
  service.clock.advance(3_000);
  await service.done("PauseRobot", { amrId: robot.amrId, amr_id: robot.amrId, stopNow: false });
  expect((await online(service, robot)).stateId).toBe("ROBOT_STATE_EXECUTING");
  service.clock.advance(LONG_MS);
  const { coordinate, stateId } = await online(service, robot);
  expect([stateId, coordinate.x]).toEqual(["ROBOT_STATE_PAUSED", 20]);
});

overHttp(
  "TRN-13 Paused + ResumeRobot: executing, its chain goes on from where it stopped",
  async (service) => {
    const robot = service.fresh("aisle");
    const chainId = await added(service, robot, twoLoads(robot));
    service.clock.advance(3_000);
    await service.done("PauseRobot", { amr_id: robot.amrId, stop_now: true });
    service.clock.advance(LONG_MS);
    await service.done("ResumeRobot", { amr_id: robot.amrId });
    const { stateId, taskChainId } = await online(service, robot);
    expect([stateId, taskChainId]).toEqual(["ROBOT_STATE_EXECUTING", chainId]);
    service.clock.advance(2_000);
    expect((await online(service, robot)).coordinate.x).toBeCloseTo(15, 0);
    service.clock.advance(10 * LONG_MS);
    expect((await queried(service, chainId)).status).toBe("COMPLETED");
  },
);

overHttp(
  "TRN-19 A chain that waits for confirmation + FinishTaskChain: the task is completed, the chain goes on",
  async (service) => {
    const robot = service.fresh("base");
    const [first, second] = robot.codes;
    const chainId = await added(service, robot, [
      ["SYSTEM_CONFIRM", first],
      ["UNLOAD", second],
    ]);
    service.clock.advance(LONG_MS);
    expect(await taskStatuses(service, chainId)).toEqual(["EXECUTING", "WAITING"]);
    expect(await service.done("FinishTaskChain", { task_chain_id: chainId })).toEqual({});
    expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "EXECUTING"]);
    service.clock.advance(LONG_MS);
    expect((await queried(service, chainId)).status).toBe("COMPLETED");
  },
);

overHttp(
  "TRN-20 CancelTaskChain applies only to chains that are not over: else FAILED_PRECONDITION",
  async (service) => {
    const robot = service.fresh("base");
    const chainId = await added(service, robot, twoLoads(robot));
    service.clock.advance(LONG_MS);
    expect((await queried(service, chainId)).status).toBe("COMPLETED");
    for (const force of [false, true]) {
      expect(await service.code("CancelTaskChain", { task_chain_id: chainId, force })).toBe(
        "FAILED_PRECONDITION",
      );
    }
    expect((await queried(service, chainId)).status).toBe("COMPLETED");
  },
);

overHttp(
  "TRN-21 CancelTaskChain while a task is executing: refused without force, and the chain goes on; done with force",
  async (service) => {
    const robot = service.fresh("base");
    const chainId = await added(service, robot, twoLoads(robot));
    expect(await service.code("CancelTaskChain", { task_chain_id: chainId })).toBe("FAILED_PRECONDITION");
    expect((await queried(service, chainId)).status).toBe("IN_PROGRESS");
    expect(await service.done("CancelTaskChain", { task_chain_id: chainId, force: true })).toEqual({});
    expect(await queried(service, chainId)).toMatchObject({
      status: "CANCELED",
      finishTime: expect.stringContaining("T"),
    });
    expect(await taskStatuses(service, chainId)).toEqual(["CANCELED", "CANCELED"]);
    expect((await online(service, robot)).stateId).toBe("ROBOT_STATE_IDLE");
  },
);

overHttp(
  "TRN-47 amrId 0 or a groupId: an idle robot is chosen, of the group where one is given",
  async (service) => {
    const robot = service.fresh("base");
    // Every robot of this plant is a group of its own.
    const groupId = robot.amrId - 1_000;
    const inGroup = await added(service, robot, [["SYSTEM_CONFIRM", ""]], { amrId: 0, groupId });
    expect((await queried(service, inGroup)).amrId).toBe(robot.amrId);
    const anywhere = await added(service, robot, [["SYSTEM_CONFIRM", ""]], { amrId: 0 });
    const { amrId, status } = await queried(service, anywhere);
    expect(status).toBe("IN_PROGRESS");
    expect([0, robot.amrId]).not.toContain(amrId);
    await service.done("CancelTaskChain", { task_chain_id: anywhere, force: true });
    expect(
      await service.code("AddTaskChain", {
        taskChain: { groupId: 77_777 },
        tasks: tasks(1, ["SYSTEM_CONFIRM", ""]),
      }),
    ).toBe("INVALID_ARGUMENT");
  },
);

overHttp(
  "TRN-48 A chain for a robot that is busy with a mission or a chain waits until it is free",
  async (service) => {
    const robot = service.fresh("base");
    expect(
      (await service.simulator.rest("POST", "/v1/mission/create", navigate(robot.id, robot.stations[2])))
        .status,
    ).toBe(200);
    const first = await added(service, robot, [["LOAD", robot.codes[0]]]);
    const second = await added(service, robot, [["UNLOAD", robot.codes[1]]]);
    expect([(await queried(service, first)).status, (await queried(service, second)).status]).toEqual([
      "WAITING",
      "WAITING",
    ]);
    service.clock.advance(6_000);
    expect([(await queried(service, first)).status, (await queried(service, second)).status]).toEqual([
      "IN_PROGRESS",
      "WAITING",
    ]);
    service.clock.advance(LONG_MS);
    expect([(await queried(service, first)).status, (await queried(service, second)).status]).toEqual([
      "COMPLETED",
      "COMPLETED",
    ]);
  },
);

overHttp(
  "TRN-49 Reassign at sequence, counted from 1, is_retained true: the old tasks come behind the new ones",
  async (service) => {
    for (const by of ["ReassignTaskByAmrId", "ReassignTaskByTaskChainId"]) {
      const robot = service.fresh("base");
      const [a, b, c] = robot.codes;
      const chainId = await added(service, robot, [
        ["LOAD", a],
        ["UNLOAD", b],
      ]);
      const body = { sequence: 2, is_retained: true, reassign_tasks: tasks(1, ["LOAD", c]) };
      const path: JsonObject =
        by === "ReassignTaskByAmrId" ? { amr_id: robot.amrId } : { task_chain_id: chainId };
      expect(await service.done(by, { ...path, ...body })).toEqual({});
      expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, c, b]);
    }
  },
);

overHttp("TRN-50 Reassign, is_retained false: the old tasks from there on are dropped", async (service) => {
  const robot = service.fresh("base");
  const [a, b, c] = robot.codes;
  const chainId = await added(service, robot, [
    ["LOAD", a],
    ["UNLOAD", b],
    ["UNLOAD", a],
  ]);
  const body = { sequence: 2, isRetained: false, reassignTasks: tasks(1, ["UNLOAD", c]) };
  await service.done("ReassignTaskByTaskChainId", { task_chain_id: chainId, ...body });
  expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, c]);
  service.clock.advance(LONG_MS);
  expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "COMPLETED"]);
});

overHttp(
  "TRN-51 Reassign before or at a task that is executing or done: FAILED_PRECONDITION, unchanged",
  async (service) => {
    const robot = service.fresh("base");
    const [a, b, c] = robot.codes;
    const chainId = await added(service, robot, [
      ["LOAD", a],
      ["SYSTEM_CONFIRM", b],
      ["UNLOAD", c],
    ]);
    const reassign = (sequence: number) =>
      service.code("ReassignTaskByTaskChainId", {
        task_chain_id: chainId,
        sequence,
        reassign_tasks: tasks(1, ["UNLOAD", a]),
      });
    service.clock.advance(LONG_MS);
    expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "EXECUTING", "WAITING"]);
    expect([await reassign(1), await reassign(2)]).toEqual(["FAILED_PRECONDITION", "FAILED_PRECONDITION"]);
    expect([await reassign(0), await reassign(-1), await reassign(5)]).toEqual(
      Array(3).fill("INVALID_ARGUMENT"),
    );
    expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, b, c]);
    expect(await reassign(3)).toBe("OK");
  },
);

overHttp(
  "TRN-63 Reassign: a point counts from the first task of the chain, done or not, whatever waits or executes",
  async (service) => {
    // A, B and C are the chain's points, N is the new one; a code is a refusal.
    const table: ReadonlyArray<readonly ["waiting" | "executing", number, string, string]> = [
      ["waiting", 0, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
      ["waiting", 1, "NABC", "N"],
      ["waiting", 2, "ANBC", "AN"],
      ["waiting", 3, "ABNC", "ABN"],
      ["waiting", 4, "ABCN", "ABCN"],
      ["waiting", 5, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
      ["executing", 1, "FAILED_PRECONDITION", "FAILED_PRECONDITION"],
      ["executing", 2, "ANBC", "AN"],
      ["executing", 3, "ABNC", "ABN"],
      ["executing", 4, "ABCN", "ABCN"],
      ["executing", 5, "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
    ];
    const robot = service.fresh("base");
    const [a, b, c] = robot.codes;
    const named = new Map([a, b, c, robot.homeCode].map((code, at) => [code, "ABCN"[at]]));
    const steps: Steps = [
      ["LOAD", a],
      ["UNLOAD", b],
      ["UNLOAD", c],
    ];
    const outcome = async (state: string, sequence: number, isRetained: boolean) => {
      const first = await added(service, robot, steps);
      const chainId = state === "executing" ? first : await added(service, robot, steps);
      const code = await service.code("ReassignTaskByTaskChainId", {
        task_chain_id: chainId,
        sequence,
        isRetained,
        reassignTasks: tasks(robot.mapId, ["UNLOAD", robot.homeCode]),
      });
      const { tasks: now } = await queried(service, chainId);
      const points = now.map(({ point }) => named.get(point)).join("");
      for (const id of new Set([chainId, first])) {
        await service.done("CancelTaskChain", { task_chain_id: id, force: true });
      }
      if (code !== "OK") expect(points).toBe("ABC");
      return code === "OK" ? points : code;
    };
    const seen = [];
    for (const [state, sequence] of table) {
      seen.push([
        state,
        sequence,
        await outcome(state, sequence, true),
        await outcome(state, sequence, false),
      ]);
    }
    expect(seen).toEqual(table);
  },
);

overHttp(
  "TRN-62 Reassign with no tasks: INVALID_ARGUMENT, unchanged, whether the old ones are to be kept or not",
  async (service) => {
    const robot = service.fresh("base");
    const [a, b] = robot.codes;
    const chainId = await added(service, robot, [
      ["LOAD", a],
      ["UNLOAD", b],
    ]);
    for (const isRetained of [false, true]) {
      const body = { sequence: 2, isRetained, reassignTasks: [] };
      const byChain = { task_chain_id: chainId, ...body };
      expect(await service.code("ReassignTaskByTaskChainId", byChain)).toBe("INVALID_ARGUMENT");
      expect(await service.code("ReassignTaskByAmrId", { amr_id: robot.amrId, ...body })).toBe(
        "INVALID_ARGUMENT",
      );
    }
    expect((await queried(service, chainId)).tasks.map(({ point }) => point)).toEqual([a, b]);
  },
);

overHttp(
  "TRN-52 TASK_TYPE_SYSTEM_CONFIRM drives to its point if it names one, then waits",
  async (service) => {
    const robot = service.fresh("base");
    const chainId = await added(service, robot, [
      ["SYSTEM_CONFIRM", ""],
      ["SYSTEM_CONFIRM", robot.codes[2]],
    ]);
    const { coordinate } = await online(service, robot);
    service.clock.advance(LONG_MS);
    expect((await online(service, robot)).coordinate).toEqual(coordinate);
    await service.done("FinishTaskChain", { task_chain_id: chainId });
    expect(await service.code("FinishTaskChain", { task_chain_id: chainId })).toBe("FAILED_PRECONDITION");
    service.clock.advance(LONG_MS);
    expect((await online(service, robot)).coordinate.x).toBe(coordinate.x + 5);
    expect(await taskStatuses(service, chainId)).toEqual(["COMPLETED", "EXECUTING"]);
  },
);

overHttp("TRN-53 FinishTaskChain with nothing waiting: FAILED_PRECONDITION", async (service) => {
  const robot = service.fresh("base");
  const chainId = await added(service, robot, twoLoads(robot));
  expect(await service.code("FinishTaskChain", { task_chain_id: chainId })).toBe("FAILED_PRECONDITION");
  service.clock.advance(LONG_MS);
  expect(await service.code("FinishTaskChain", { task_chain_id: chainId })).toBe("FAILED_PRECONDITION");
});

overHttp(
  "TRN-54 CancelTaskChain of a chain that waits for its robot: canceled, also without force",
  async (service) => {
    const robot = service.fresh("base");
    await added(service, robot, twoLoads(robot));
    const waiting = await added(service, robot, twoLoads(robot));
    await service.done("CancelTaskChain", { task_chain_id: waiting, force: false });
    service.clock.advance(LONG_MS);
    expect((await queried(service, waiting)).status).toBe("CANCELED");
  },
);

overHttp(
  "TRN-55 PauseRobot and ResumeRobot without a chain under way, or not paused: FAILED_PRECONDITION",
  async (service) => {
    const robot = service.fresh("base");
    const path = { amr_id: robot.amrId };
    expect(await service.code("PauseRobot", { ...path, stop_now: true })).toBe("FAILED_PRECONDITION");
    expect(await service.code("ResumeRobot", path)).toBe("FAILED_PRECONDITION");
    await added(service, robot, twoLoads(robot));
    expect(await service.code("ResumeRobot", path)).toBe("FAILED_PRECONDITION");
    await service.done("PauseRobot", { ...path, stop_now: true });
    expect(await service.code("PauseRobot", { ...path, stop_now: true })).toBe("FAILED_PRECONDITION");
  },
);

overHttp("TRN-60 Chain and task statuses on the way; an unset time is the empty string", async (service) => {
  const robot = service.fresh("base");
  const chainId = await added(service, robot, twoLoads(robot));
  const begun = await queried(service, chainId);
  expect([begun.status, begun.finishTime]).toEqual(["IN_PROGRESS", ""]);
  expect(begun.tasks.map(({ status, finishTime }) => [status, finishTime])).toEqual([
    ["EXECUTING", ""],
    ["WAITING", ""],
  ]);
  service.clock.advance(LONG_MS);
  const over = await queried(service, chainId);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(over).toMatchObject({ status: "COMPLETED", finishTime: time });
  expect(over.tasks.map(({ status, finishTime }) => [status, finishTime])).toEqual(
    Array(2).fill(["COMPLETED", time]),
  );
});
