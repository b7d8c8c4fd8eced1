import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let simulator: RunningSimulator;
let robots: ReadonlyArray<{ readonly id: string; readonly name: string }>;
beforeAll(async () => {
  simulator = await startSimulator();
  const online = await simulator.rest("GET", "/amr/onlineAmr");
  robots = (online.json() as { robots: typeof robots }).robots;
});
afterAll(() => simulator.stop());

test("the task operations answer camelCase with every default shown", async () => {
  const { status, headers, json } = await simulator.rest("GET", "/amr/onlineAmr");
  expect(status).toBe(200);
  expect(headers["grpc-status"]).toBe("0");
  expect(headers["content-type"]).toMatch(/application\/json/);
  expect((json() as { robots: unknown[] }).robots[0]).toMatchObject({ taskChainId: 0, materials: [] });
});

test("a call takes snake_case and camelCase, and both take effect", async () => {
  const [one, other] = robots;
  const goals = (destination: object) => ({ base_mission: { navigateMission: { goal: destination } } });
  const snake = await simulator.rest("POST", "/v1/mission/create", {
    robot_id: one?.name,
    mission: goals({ destination_id: "Station A" }),
  });
  const camel = await simulator.rest("POST", "/v1/mission/create", {
    robotId: other?.name,
    mission: goals({ destinationId: "Station B" }),
  });
  for (const answer of [snake, camel]) {
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json()).toEqual({ missionId: expect.stringMatching(/./) });
  }
});

test.each([
  ["no JSON", "{"],
  ["a list", []],
  ["an unknown key", { robot: "x" }],
  ["a wrong type", { robotId: 5 }],
  ["two members of a oneof", { robotId: "x", mission: { baseMission: {}, cartMission: {} } }],
  ["nested without end", `{"robotId":${"[".repeat(100_000)}`],
])("%s is INVALID_ARGUMENT, 400, with both headers and the body", async (_, body) => {
  const answer = await simulator.rest("POST", "/v1/mission/create", body);
  expect(answer.status).toBe(400);
  expect(answer.headers["grpc-status"]).toBe("3");
  const { code, message } = answer.json() as { code: string; message: string };
  expect(code).toBe("INVALID_ARGUMENT");
  expect(decodeURIComponent(String(answer.headers["grpc-message"]))).toBe(message);
});

test("a call without a token is 401, whatever its body", async () => {
  const answer = await simulator.rest("POST", "/v1/mission/create", "{", null);
  expect(answer.status).toBe(401);
  expect(answer.headers["grpc-status"]).toBe("16");
  expect(answer.json()).toMatchObject({ code: "UNAUTHENTICATED" });
});

test("another distributor's robot is 403, one that nobody has 404", async () => {
  const token = await simulator.token(simulator.endpoints.otherCredentials);
  const foreign = await simulator.rest("POST", "/v1/goal/skip", { robotId: robots[0]?.name }, token);
  expect([foreign.status, foreign.headers["grpc-status"]]).toEqual([403, "7"]);
  const nobodys = await simulator.rest("POST", "/v1/goal/skip", { robotId: "nobody" });
  expect([nobodys.status, nobodys.headers["grpc-status"]]).toEqual([404, "5"]);
});

test("a wrong path is 404, a wrong verb 405 that names the right one, a HEAD of a GET too", async () => {
  const path = await simulator.rest("POST", "/v1/mission/invent", {});
  expect(path.status).toBe(404);
  expect(path.json()).toMatchObject({ code: "NOT_FOUND" });
  const verb = await simulator.rest("GET", "/v1/mission/create");
  expect([verb.status, verb.headers.allow]).toEqual([405, "POST"]);
  expect(verb.json()).toMatchObject({ code: "UNIMPLEMENTED" });
  expect((await simulator.rest("HEAD", "/taskChain/endFinishPauseIsFalseTask/1")).status).toBe(405);
});

test("a body beyond the bound is 413", async () => {
  const answer = await simulator.rest("POST", "/v1/mission/create", { robotId: "x".repeat(1_100_000) });
  expect(answer.status).toBe(413);
  expect(answer.json()).toMatchObject({ code: "RESOURCE_EXHAUSTED" });
});

test("task_chain_ids: repeated, by commas, in camelCase, and both", async () => {
  const ids: number[] = [];
  for (let n = 0; n < 2; n += 1) {
    const added = await simulator.rest("POST", "/task/add", {
      taskChain: { amrId: Number(robots.at(-1)?.id), taskSeq: `seq-${n}` },
      tasks: [{ taskType: "TASK_TYPE_SYSTEM_CONFIRM", mapId: 1, endPointCode: "" }],
    });
    expect(added.status, added.text).toBe(200);
    ids.push((added.json() as { taskChainId: number }).taskChainId);
  }
  const [a, b] = ids;
  for (const query of [
    `task_chain_ids=${a}&task_chain_ids=${b}`,
    `task_chain_ids=${a},${b}`,
    `taskChainIds=${a}&taskChainIds=${b}`,
    `taskChainIds=${a},${b}&taskChainIds=999999`,
  ]) {
    const answer = await simulator.rest("GET", `/task/getTaskChainByIds?${query}`);
    const { taskChains } = answer.json() as { taskChains: Array<{ taskChainState: { id: number } }> };
    expect(
      taskChains.map(({ taskChainState }) => taskChainState.id),
      query,
    ).toEqual(ids);
    expect(taskChains[0]).toMatchObject({ taskChainState: { finishTime: "", isReturn: 0 } });
  }
  for (const query of ["task_chain_id=1", "task_chain_ids=one"]) {
    expect((await simulator.rest("GET", `/task/getTaskChainByIds?${query}`)).status, query).toBe(400);
  }
});

test("path parameters are integers, and the body may not contradict them", async () => {
  expect((await simulator.rest("POST", "/task/cancel/one", {})).status).toBe(400);
  expect((await simulator.rest("POST", "/task/cancel/99999999999", {})).status).toBe(400);
  expect((await simulator.rest("POST", "/task/cancel/7", { task_chain_id: 8 })).status).toBe(400);
  expect((await simulator.rest("POST", "/task/cancel/77777", { taskChainId: 77777 })).status).toBe(404);
  expect((await simulator.rest("GET", "/map/getMapVertexes/1")).status).toBe(200);
});
