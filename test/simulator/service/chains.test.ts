import { describe, expect, it } from "vitest";
import { TaskService } from "../../../src/wire/fleet/http/v1/task_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { cartTo, createService, globex, type ServiceHarness } from "./service-harness.ts";

const { method } = TaskService;
const load = (endPointCode: string, mapId = 1) => ({ taskType: "TASK_TYPE_LOAD", mapId, endPointCode });
const confirm = { taskType: "TASK_TYPE_SYSTEM_CONFIRM" };

const addCode = (harness: ServiceHarness, taskChain: object, ...tasks: object[]) =>
  harness.codeOf(method.addTaskChain, { taskChain, tasks });

async function add(harness: ServiceHarness, taskChain: object, ...tasks: object[]): Promise<number> {
  const { taskChainId } = await harness.call(method.addTaskChain, { taskChain, tasks });
  return taskChainId;
}

async function query(harness: ServiceHarness, ...taskChainIds: number[]) {
  const { taskChains } = await harness.call(method.queryTaskChain, { taskChainIds });
  return taskChains;
}

describe("AddTaskChain", () => {
  it("refuses what is malformed", async () => {
    const harness = createService();
    expect(await harness.codeOf(method.addTaskChain, { tasks: [load("S-A")] })).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { amrId: 1 })).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { amrId: -1 }, load("S-A"))).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { groupId: -1 }, load("S-A"))).toBe("INVALID_ARGUMENT");
    expect(
      await addCode(harness, { amrId: 1 }, { taskType: "TASK_TYPE_DANCE", mapId: 1, endPointCode: "S-A" }),
    ).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { amrId: 1 }, { taskType: "TASK_TYPE_LOAD", mapId: 1 })).toBe(
      "INVALID_ARGUMENT",
    );
    expect(await addCode(harness, { amrId: 1 }, load("S-A", 0))).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { amrId: 1 }, load("NOWHERE"))).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { groupId: 77 }, load("S-A"))).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { name: "x".repeat(1_025) }, load("S-A"))).toBe("INVALID_ARGUMENT");
    expect(await addCode(harness, { amrId: 1 }, ...Array(201).fill(load("S-A")))).toBe("INVALID_ARGUMENT");
  });

  it("refuses foreign and unknown robots and maps", async () => {
    const harness = createService();
    expect(await addCode(harness, { amrId: 9 }, load("S-A"))).toBe("PERMISSION_DENIED");
    expect(await addCode(harness, { amrId: 99 }, load("S-A"))).toBe("NOT_FOUND");
    expect(await addCode(harness, { amrId: 1 }, load("X", 2))).toBe("PERMISSION_DENIED");
    expect(await addCode(harness, { amrId: 1 }, load("X", 22))).toBe("NOT_FOUND");
  });

  it("gives the chain to the robot that is named, to an idle one, or to one of the group", async () => {
    const harness = createService();
    const robotOf = async (id: number) => (await query(harness, id))[0]?.taskChainState?.amrId;
    expect(await robotOf(await add(harness, { amrId: 2 }, load("S-A")))).toBe(2);
    expect(await robotOf(await add(harness, { groupId: 3 }, load("S-B")))).toBe(3);
    expect(await robotOf(await add(harness, {}, load("S-C")))).toBe(1);
    expect(await robotOf(await add(harness, {}, load("S-D")))).toBe(0);
  });

  it("refuses missions for a robot that is busy with a chain", async () => {
    const harness = createService();
    await add(harness, { amrId: 1 }, load("S-A"));
    const mission = { robotId: "cart", mission: cartTo("Station A") };
    expect(await harness.codeOf(FleetService.method.createMission, mission)).toBe("FAILED_PRECONDITION");
    expect(await harness.codeOf(FleetService.method.chargeRobot, { robotId: "cart" })).toBe(
      "FAILED_PRECONDITION",
    );
    expect(await harness.codeOf(FleetService.method.appendMission, mission)).toBe("FAILED_PRECONDITION");
  });
});

describe("QueryTaskChain", () => {
  it("answers each chain with its labels, its tasks and its times", async () => {
    const harness = createService();
    const labels = { areaId: 4, priority: 5, isReturn: 1, taskSeq: "seq", name: "n", fromDetail: "mes" };
    const id = await add(harness, { amrId: 1, ...labels }, load("S-A"), confirm);
    harness.clock.advance(13_000);
    const [chain] = await query(harness, id);
    expect(chain?.taskChainState).toMatchObject({
      id,
      amrId: 1,
      groupId: 0,
      ...labels,
      createTime: "2026-01-01T00:00:00.000Z",
      startTime: "2026-01-01T00:00:00.000Z",
      finishTime: "",
      status: "TASK_CHAIN_STATUS_IN_PROGRESS",
    });
    expect(chain?.taskStates).toMatchObject([
      {
        taskChainId: id,
        amrId: 1,
        taskType: "TASK_TYPE_LOAD",
        mapId: 1,
        endPointCode: "S-A",
        status: "TASK_STATUS_COMPLETED",
        finishTime: "2026-01-01T00:00:13.000Z",
        loading: 1,
      },
      { taskType: "TASK_TYPE_SYSTEM_CONFIRM", status: "TASK_STATUS_EXECUTING", finishTime: "" },
    ]);
  });

  it("leaves unknown ids out, names each chain once, and shows nobody the chains of others", async () => {
    const harness = createService();
    const id = await add(harness, { amrId: 1 }, load("S-A"));
    expect(
      (await query(harness, 0, -4, 999, id, id)).map(({ taskChainState }) => taskChainState?.id),
    ).toEqual([id]);
    expect(await harness.codeOf(method.queryTaskChain, {})).toBe("INVALID_ARGUMENT");
    expect(await harness.codeOf(method.queryTaskChain, { taskChainIds: [id] }, globex)).toBe(
      "PERMISSION_DENIED",
    );
  });
});

describe("the other chain operations", () => {
  it("refuse foreign, unknown and nonsensical ids", async () => {
    const harness = createService();
    const id = await add(harness, { amrId: 1 }, load("S-A"));
    const reassignment = { sequence: 2, reassignTasks: [load("S-B")] };
    for (const [taskChainId, code, caller] of [
      [0, "INVALID_ARGUMENT", undefined],
      [-3, "INVALID_ARGUMENT", undefined],
      [99, "NOT_FOUND", undefined],
      [id, "PERMISSION_DENIED", globex],
    ] as const) {
      expect(await harness.codeOf(method.finishTaskChain, { taskChainId }, caller)).toBe(code);
      expect(await harness.codeOf(method.cancelTaskChain, { taskChainId, force: true }, caller)).toBe(code);
      expect(
        await harness.codeOf(method.reassignTaskByTaskChainId, { taskChainId, ...reassignment }, caller),
      ).toBe(code);
    }
    for (const [amrId, code] of [
      [0, "INVALID_ARGUMENT"],
      [99, "NOT_FOUND"],
      [9, "PERMISSION_DENIED"],
      [2, "FAILED_PRECONDITION"],
    ] as const) {
      expect(await harness.codeOf(method.reassignTaskByAmrId, { amrId, ...reassignment })).toBe(code);
      expect(await harness.codeOf(method.pauseRobot, { amrId, stopNow: true })).toBe(code);
      expect(await harness.codeOf(method.resumeRobot, { amrId })).toBe(code);
    }
  });

  it("reassign by robot and by chain", async () => {
    const harness = createService();
    const id = await add(harness, { amrId: 1 }, load("S-A"), load("S-B"));
    const points = async () =>
      (await query(harness, id))[0]?.taskStates.map(({ endPointCode }) => endPointCode);
    const byAmrId = { amrId: 1, sequence: 2, isRetained: true, reassignTasks: [load("S-C")] };
    expect(await harness.codeOf(method.reassignTaskByAmrId, byAmrId)).toBe("OK");
    expect(await points()).toEqual(["S-A", "S-C", "S-B"]);
    const byChain = { taskChainId: id, sequence: 3, isRetained: false, reassignTasks: [load("S-D")] };
    expect(await harness.codeOf(method.reassignTaskByTaskChainId, byChain)).toBe("OK");
    expect(await points()).toEqual(["S-A", "S-C", "S-D"]);
    for (const change of [
      { sequence: 0 },
      { sequence: 9 },
      { reassignTasks: [] },
      { reassignTasks: [load("NOWHERE")] },
      { reassignTasks: [{ taskType: "" }] },
    ]) {
      expect(await harness.codeOf(method.reassignTaskByTaskChainId, { ...byChain, ...change })).toBe(
        "INVALID_ARGUMENT",
      );
    }
    expect(await harness.codeOf(method.reassignTaskByTaskChainId, { ...byChain, sequence: 1 })).toBe(
      "FAILED_PRECONDITION",
    );
    const abroad = { ...byChain, reassignTasks: [load("X", 2)] };
    expect(await harness.codeOf(method.reassignTaskByTaskChainId, abroad)).toBe("PERMISSION_DENIED");
  });

  it("finish, cancel, pause and resume reach the chain", async () => {
    const harness = createService();
    const id = await add(harness, { amrId: 1 }, confirm, load("S-A"));
    const status = async () => (await query(harness, id))[0]?.taskChainState?.status;
    expect(await harness.codeOf(method.finishTaskChain, { taskChainId: id })).toBe("OK");
    expect(await harness.codeOf(method.finishTaskChain, { taskChainId: id })).toBe("FAILED_PRECONDITION");
    expect(await harness.codeOf(method.resumeRobot, { amrId: 1 })).toBe("FAILED_PRECONDITION");
    expect(await harness.codeOf(method.pauseRobot, { amrId: 1, stopNow: true })).toBe("OK");
    expect(await harness.codeOf(method.pauseRobot, { amrId: 1, stopNow: true })).toBe("FAILED_PRECONDITION");
    expect(await harness.codeOf(method.resumeRobot, { amrId: 1 })).toBe("OK");
    expect(await harness.codeOf(method.cancelTaskChain, { taskChainId: id })).toBe("FAILED_PRECONDITION");
    expect(await status()).toBe("TASK_CHAIN_STATUS_IN_PROGRESS");
    expect(await harness.codeOf(method.cancelTaskChain, { taskChainId: id, force: true })).toBe("OK");
    expect(await status()).toBe("TASK_CHAIN_STATUS_CANCELED");
    expect(await harness.codeOf(method.cancelTaskChain, { taskChainId: id, force: true })).toBe(
      "FAILED_PRECONDITION",
    );
  });
});

describe("a chain and a robot that is offline", () => {
  it("a change of a chain under way wants the robot's confirmation; one of a chain that is over does not", async () => {
    const harness = createService();
    const id = await add(harness, { amrId: 1 }, load("S-A"));
    harness.happen({ robotId: "cart", kind: "offline" });
    const pending = harness.codeOf(method.cancelTaskChain, { taskChainId: id, force: true });
    await harness.clock.settle(10_000);
    expect(await pending).toBe("DEADLINE_EXCEEDED");
    harness.clock.advance(60_000);
    expect(await harness.codeOf(method.cancelTaskChain, { taskChainId: id, force: true })).toBe(
      "FAILED_PRECONDITION",
    );
  });
});

describe("GetOnlineRobots", () => {
  const online = async (harness: ServiceHarness) => (await harness.call(method.getOnlineRobots, {})).robots;

  it("lists the caller's robots that are online, by number and name", async () => {
    const harness = createService();
    const names = async () => (await online(harness)).map(({ id, name }) => `${id} ${name}`);
    expect(await names()).toEqual(["1 cart", "2 serve", "3 base"]);
    harness.happen({ robotId: "serve", kind: "offline" });
    expect(await names()).toEqual(["1 cart", "3 base"]);
  });

  it("tells where a robot is, what it does and how it fares", async () => {
    const harness = createService();
    const [idle] = await online(harness);
    expect(idle).toMatchObject({
      mapId: 1,
      mapName: "Hall",
      pos: "H1",
      stateId: "ROBOT_STATE_IDLE",
      loadStatus: "EMPTY",
      taskChainId: 0,
      batteryPercentile: 50,
      coordinate: { x: 0, y: 10 },
      amrException: { exception: [], exceptionCodes: [], level: 0 },
    });
    const id = await add(harness, { amrId: 1 }, load("S-A"));
    harness.clock.advance(5_000);
    const [executing] = await online(harness);
    expect(executing).toMatchObject({
      pos: "",
      stateId: "ROBOT_STATE_EXECUTING",
      taskChainId: id,
      coordinate: { x: 0, y: 5 },
    });
    expect(executing?.unFinishRoute).toMatchObject({ processRate: 0.5 });
    expect(executing?.unFinishRoute?.unFinishedVertexes[0]?.kind).toEqual({
      case: "stringValue",
      value: "S-A",
    });
    await harness.call(method.pauseRobot, { amrId: 1, stopNow: true });
    expect((await online(harness))[0]?.stateId).toBe("ROBOT_STATE_PAUSED");
    await harness.call(method.resumeRobot, { amrId: 1 });
    harness.happen({ robotId: "cart", kind: "blocked" });
    const [blocked] = await online(harness);
    expect(blocked).toMatchObject({ stateId: "ROBOT_STATE_ERROR", amrException: { level: 1 } });
    harness.happen({ robotId: "cart", kind: "unblocked" });
    harness.clock.advance(10_000);
    expect((await online(harness))[0]).toMatchObject({ pos: "S-A", loadStatus: "LOADED", taskChainId: 0 });
    harness.happen({ robotId: "cart", kind: "wired", plugged: true });
    expect((await online(harness))[0]?.stateId).toBe("ROBOT_STATE_CHARGING");
  });
});

describe("GetMap", () => {
  it("answers the points of an own map", async () => {
    const harness = createService();
    const { vertexes } = await harness.call(method.getMap, { mapId: 1 });
    expect(vertexes).toHaveLength(8);
    expect(vertexes[1]).toMatchObject({ id: 2, code: "S-B", alias: "Station B", x: 10, y: 0, mapId: 1 });
    expect(await harness.codeOf(method.getMap, { mapId: 2 })).toBe("PERMISSION_DENIED");
    expect(await harness.codeOf(method.getMap, { mapId: 3 })).toBe("NOT_FOUND");
    expect(await harness.codeOf(method.getMap, {})).toBe("INVALID_ARGUMENT");
  });
});
