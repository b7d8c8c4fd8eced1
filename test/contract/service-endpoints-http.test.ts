import { expect } from "vitest";
import { tasks } from "./requests.ts";
import { contractTests, restAnswer, type Service } from "./service.ts";

const { overHttp } = contractTests();

/** One request by its literal verb and path. @returns the body of an answer that has to be 200. */
async function http({ simulator }: Service, verb: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await simulator.rest(verb, path, body);
  expect(restAnswer(answer)).toMatchObject({ code: "OK", message: "" });
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  return answer.json();
}

/** Gives a robot a chain of two tasks, the first of them a confirmation on the spot. @returns its id. */
async function added(service: Service, amrId: number, code: string): Promise<number> {
  const steps = tasks(1, ["SYSTEM_CONFIRM", ""], ["UNLOAD", code]);
  const body = { taskChain: { amrId }, tasks: steps };
  return ((await http(service, "POST", "/task/add", body)) as { taskChainId: number }).taskChainId;
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

overHttp("END-01 AddTaskChain: POST /task/add, both spellings of the keys", async (service) => {
  const { amrId, codes } = service.fresh("base");
  const camel = {
    taskChain: { amrId, areaId: 1 },
    tasks: [{ taskType: "TASK_TYPE_LOAD", mapId: 1, endPointCode: codes[0] }],
  };
  const snake = {
    task_chain: { amr_id: amrId, area_id: 1 },
    tasks: [{ task_type: "TASK_TYPE_LOAD", map_id: 1, end_point_code: codes[0] }],
  };
  const first = await http(service, "POST", "/task/add", camel);
  const second = await http(service, "POST", "/task/add", snake);
  expect(first).toEqual({ taskChainId: expect.any(Number) });
  expect((second as { taskChainId: number }).taskChainId).not.toBe(
    (first as { taskChainId: number }).taskChainId,
  );
});

overHttp("END-02 ReassignTaskByAmrId: PUT /taskChain/reassignByAmrId/{amr_id}", async (service) => {
  const { amrId, codes } = service.fresh("base");
  await added(service, amrId, codes[0]);
  const body = { sequence: 2, is_retained: false, reassign_tasks: tasks(1, ["LOAD", codes[1]]) };
  expect(await http(service, "PUT", `/taskChain/reassignByAmrId/${amrId}`, body)).toEqual({});
});

overHttp(
  "END-03 ReassignTaskByTaskChainId: PUT /taskChain/reassignByTaskChainId/{task_chain_id}",
  async (service) => {
    const { amrId, codes } = service.fresh("base");
    const chainId = await added(service, amrId, codes[0]);
    const body = { sequence: 2, isRetained: true, reassignTasks: tasks(1, ["LOAD", codes[1]]) };
    expect(await http(service, "PUT", `/taskChain/reassignByTaskChainId/${chainId}`, body)).toEqual({});
  },
);

overHttp(
  "END-04 FinishTaskChain: GET /taskChain/endFinishPauseIsFalseTask/{task_chain_id}",
  async (service) => {
    const { amrId, codes } = service.fresh("base");
    const path = `/taskChain/endFinishPauseIsFalseTask/${await added(service, amrId, codes[0])}`;
    expect((await service.simulator.rest("HEAD", path)).status).not.toBe(200);
    expect(await http(service, "GET", path)).toEqual({});
  },
);

overHttp(
  "END-05 QueryTaskChain: GET /task/getTaskChainByIds, several chains, ids repeated, by comma, in camelCase",
  async (service) => {
    const { amrId, codes } = service.fresh("base");
    const labels = {
      areaId: 4,
      priority: 2,
      isReturn: 1,
      taskSeq: "ref-9",
      name: "to the press",
      fromDetail: "MES",
    };
    const body = {
      taskChain: { amrId, ...labels },
      tasks: tasks(1, ["LOAD", codes[0]], ["UNLOAD", codes[1]]),
    };
    const { taskChainId: first } = (await http(service, "POST", "/task/add", body)) as {
      taskChainId: number;
    };
    const { taskChainId: second } = (await http(service, "POST", "/task/add", body)) as {
      taskChainId: number;
    };
    service.clock.advance(1_000);
    const query = (text: string) =>
      http(service, "GET", `/task/getTaskChainByIds?${text}`) as Promise<{ taskChains: unknown[] }>;
    const { taskChains } = await query(`task_chain_ids=${first}&task_chain_ids=${second}`);
    expect(await query(`task_chain_ids=${first},${second}`)).toEqual({ taskChains });
    expect(await query(`taskChainIds=${first}&taskChainIds=${second}`)).toEqual({ taskChains });
    expect(taskChains).toHaveLength(2);
    const task = { id: expect.any(Number), taskChainId: first, mapId: 1, createTime: time, finishTime: "" };
    expect(taskChains[0]).toEqual({
      taskChainState: {
        id: first,
        amrId,
        groupId: 0,
        ...labels,
        createTime: time,
        startTime: time,
        finishTime: "",
        comeFrom: 1,
        status: "TASK_CHAIN_STATUS_IN_PROGRESS",
      },
      taskStates: [
        {
          ...task,
          amrId,
          taskType: "TASK_TYPE_LOAD",
          endPointCode: codes[0],
          status: "TASK_STATUS_EXECUTING",
          startTime: time,
          loading: 1,
        },
        {
          ...task,
          amrId: 0,
          taskType: "TASK_TYPE_UNLOAD",
          endPointCode: codes[1],
          status: "TASK_STATUS_WAITING",
          startTime: "",
          loading: 0,
        },
      ],
    });
  },
);

overHttp("END-06 CancelTaskChain: POST /task/cancel/{task_chain_id}", async (service) => {
  const { amrId, codes } = service.fresh("base");
  const chainId = await added(service, amrId, codes[0]);
  expect(await http(service, "POST", `/task/cancel/${chainId}`, { force: true })).toEqual({});
});

overHttp(
  "END-07 GetOnlineRobots: GET /amr/onlineAmr, every online robot of the distributor, defaults shown",
  async (service) => {
    const robot = service.fresh("base");
    const list = async () => {
      const { robots } = (await http(service, "GET", "/amr/onlineAmr")) as {
        robots: Array<{ id: string; name: string }>;
      };
      return robots;
    };
    const names = (await list()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([robot.id, "annex-1", "annex-2"]));
    expect(names).not.toContain("globex-01");
    expect((await list()).find(({ name }) => name === robot.id)).toEqual({
      id: String(robot.amrId),
      name: robot.id,
      ip: expect.stringMatching(/^10\.0\./),
      areaId: 1,
      mapId: 1,
      mapName: "Plant 1",
      pos: expect.stringMatching(/^H\d+$/),
      state: "Idle",
      stateId: "ROBOT_STATE_IDLE",
      loadStatus: "EMPTY",
      taskState: 0,
      taskChainId: 0,
      taskId: 0,
      batteryPercentile: 80,
      coordinate: { x: expect.any(Number), y: expect.any(Number), theta: 0 },
      materials: [],
      amrException: { exception: [], exceptionCodes: [], level: 0 },
      unFinishRoute: { unFinishedVertexes: [], processRate: 0 },
    });
    service.simulator.control.happen({ kind: "offline", robotId: robot.id });
    expect((await list()).map(({ name }) => name)).not.toContain(robot.id);
  },
);

overHttp("END-08 PauseRobot: POST /amr/taskCommand/pause/{amr_id}", async (service) => {
  for (const body of [{ stop_now: true }, { stopNow: false }, undefined]) {
    const { amrId, codes } = service.fresh("base");
    await added(service, amrId, codes[0]);
    expect(await http(service, "POST", `/amr/taskCommand/pause/${amrId}`, body)).toEqual({});
  }
});

overHttp("END-09 ResumeRobot: POST /amr/taskCommand/resume/{amr_id}", async (service) => {
  const { amrId, codes } = service.fresh("base");
  await added(service, amrId, codes[0]);
  await http(service, "POST", `/amr/taskCommand/pause/${amrId}`, { stop_now: true });
  expect(await http(service, "POST", `/amr/taskCommand/resume/${amrId}`)).toEqual({});
});

overHttp(
  "END-10 GetMap: GET /map/getMapVertexes/{map_id}, every vertex with every field",
  async (service) => {
    const { vertexes } = (await http(service, "GET", "/map/getMapVertexes/2")) as { vertexes: unknown[] };
    expect(vertexes).toHaveLength(5);
    expect(vertexes[1]).toEqual({
      id: 2,
      code: "W2",
      alias: "",
      description: "",
      x: 20,
      y: 0,
      theta: 0,
      type: 0,
      loading: 0,
      dockingDirection: 0,
      dockingX: 20,
      dockingY: 0,
      dockingTheta: 0,
      outboundX: 20,
      outboundY: 0,
      outboundTheta: 0,
      forceLoad: false,
      relocThreshold: 0,
      forbiddenBack: 0,
      allowPark: 0,
      extend: "{}",
      mapId: 2,
    });
  },
);

overHttp(
  "END-24 Credential exchange: POST /authorizeApiAccess, the JWT as the body, with exp about an hour away",
  async (service) => {
    const { simulator } = service;
    const token = await simulator.token();
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    expect(claims).toMatchObject({ exp: expect.any(Number), scope: "acme" });
    expect(claims.exp * 1_000).toBeGreaterThan(service.clock.nowMs());
  },
);
