import { expect } from "vitest";
import { added, queried, type Steps, taskStatuses } from "./chains.ts";
import type { TestRobot } from "./contract-harness.ts";
import { navigate, tasks } from "./requests.ts";
import { contractTests, type Service } from "./service.ts";

const { overHttp } = contractTests();
const LONG_MS = 60_000;

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
