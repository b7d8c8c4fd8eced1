import { expect, test } from "vitest";
import type { Operation, ParsedRequest, Problem } from "../../../src/contracts/operation.ts";
import { methods } from "../../../src/fleet/operations/row.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { openedJson } from "../../support/fleet-requests.ts";
import { operations, readNames } from "../../support/operations.ts";

const catalogue = createCatalogue();

function operation(name: string): Operation {
  const found = catalogue.get(name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

function parsed(name: string, json: unknown): ParsedRequest {
  const result = operation(name).parse(json);
  if (!result.ok) throw new Error(`${result.problem.path}: ${result.problem.message}`);
  return result.request;
}

function problem(name: string, json: unknown): Problem {
  const result = operation(name).parse(json);
  if (result.ok) throw new Error("the request was taken");
  return result.problem;
}

const traverse = (spelling: "snake" | "camel") =>
  spelling === "snake"
    ? {
        robot_id: "r1",
        mission: { cart_mission: { traverse_mission: { goals: [{ destination_id: "A" }] } } },
      }
    : { mission: { cartMission: { traverseMission: { goals: [{ destinationId: "A" }] } } }, robotId: "r1" };

const LOST_KEY = 'has the key "__proto__", which no message can carry';

test("the catalogue has the operations of the fleet service, each for its role", () => {
  const roles = [...catalogue].map(([name, { role }]) => [name, role] as const);
  expect(new Map(roles)).toEqual(new Map([...operations].map(([name, { role }]) => [name, role])));
});

test("its reads are the operations that change nothing", () => {
  const reads = [...methods.values()].filter((method) => method.reads).map(({ name }) => name);
  expect(reads.sort()).toEqual([...readNames].sort());
});

test("camelCase and snake_case are one command", () => {
  const text = parsed("CreateMission", traverse("snake")).json;
  expect(text).toBe(
    '{"mission":{"cartMission":{"traverseMission":{"goals":[{"destinationId":"A"}]}}},"robotId":"r1"}',
  );
  expect(parsed("CreateMission", traverse("camel")).json).toBe(text);
});

test("a request reads the same from its canonical text", () => {
  const first = parsed("CreateMission", traverse("snake"));
  expect(operation("CreateMission").parse(JSON.parse(first.json))).toEqual({ ok: true, request: first });
});

test("an enum's name and its number are one command, and so are maps in any order", () => {
  const update = (command: unknown) =>
    parsed("UpdateMission", { robot_id: "r1", mission_command: { mission_id: "m", command } }).json;
  expect(update(1)).toBe(update("COMMAND_CANCEL"));
  const webhook = (headers: Record<string, string>) =>
    parsed("CreateWebhook", {
      url: "https://example.com",
      event_type: "mission",
      selector: { robot_ids: { ids: ["r1"] } },
      options: { headers },
    }).json;
  expect(webhook({ a: "1", b: "2" })).toBe(webhook({ b: "2", a: "1" }));
});

test.each([
  ["CreateMission", null, "", "should be an object"],
  ["CreateMission", { robot_id: "r1", mision: {} }, "mision", "is no field of CreateMissionRequest"],
  ["CreateMission", { mission: {} }, "robot_id", "is required"],
  ["CreateMission", { robot_id: "", mission: {} }, "robot_id", "is required"],
  ["CreateMission", { robot_id: "r1" }, "mission", "is required"],
  ["CreateMission", { robot_id: "r1", robotId: "r2", mission: {} }, "", "the same field twice"],
  [
    "CreateMission",
    {
      robot_id: "r1",
      mission: { base_mission: { navigate_mission: { goal: { destination_id: "A", pose: {} } } } },
    },
    "mission.base_mission.navigate_mission.goal",
    "may have only one of destination_id and pose",
  ],
  [
    "CreateMission",
    {
      robot_id: "r1",
      mission: {
        cart_mission: {
          traverse_mission: { goals: [{ destination_id: "A" }, { pose: { x_meters: "no" } }] },
        },
      },
    },
    "mission.cart_mission.traverse_mission.goals.1.pose.x_meters",
    "should be a number",
  ],
  [
    "CreateMission",
    { robot_id: "r1", mission: { extension: {} } },
    "mission.extension",
    "no operation takes it",
  ],
  [
    "UpdateMission",
    { robot_id: "r1", mission_command: { command: "COMMAND_CANCLE" } },
    "mission_command.command",
    "COMMAND_CANCEL",
  ],
  ["PauseRobot", { amr_id: 1.5 }, "amr_id", "a whole number of 32 bits"],
  ["PauseRobot", { amr_id: 2 ** 31 }, "amr_id", "a whole number of 32 bits"],
  ["PauseRobot", { amr_id: 1, stop_now: "yes" }, "stop_now", "true or false"],
  ["ControlConveyor", { robot_id: "r1", commands: {} }, "commands", "a list"],
  ["PauseRobot", { amr_id: Number.POSITIVE_INFINITY }, "amr_id", "and is Infinity"],
  [
    "CreateWebhook",
    JSON.parse('{"options":{"headers":{"__proto__":"v"}}}'),
    "options.headers",
    '"__proto__"',
  ],
  [
    "CreateWebhook",
    JSON.parse('{"options":{"requestTemplate":{"a":[{"__proto__":{}}]}}}'),
    "options.requestTemplate.a.0",
    LOST_KEY,
  ],
])("%s refuses %j and says where", (name, json, path, message) => {
  const found = problem(name, json);
  expect(found.path).toBe(path);
  expect(found.message).toContain(message);
});

const update = (command: string) => ({ robot_id: "r1", mission_command: { mission_id: "m", command } });
const conveyor = (...commands: string[]) => ({
  robot_id: "r1",
  commands: commands.map((command, index) => ({ index, command: `COMMAND_CONVEYOR_MOTOR_${command}` })),
});

test.each([
  ["CreateMission", traverse("snake"), "moves", "never"],
  ["UpdateMission", update("COMMAND_CANCEL"), "stops", "repeatable"],
  ["UpdateMission", update("COMMAND_PAUSE"), "stops", "repeatable"],
  ["UpdateMission", update("COMMAND_RESUME"), "moves", "never"],
  ["UpdateMission", update("COMMAND_FINISH"), "moves", "never"],
  ["UpdateMission", update("COMMAND_UNKNOWN"), "moves", "never"],
  ["ControlConveyor", conveyor("STOP", "STOP"), "stops", "repeatable"],
  ["ControlConveyor", conveyor("STOP", "CW"), "moves", "never"],
  ["ControlConveyor", conveyor(), "moves", "never"],
  ["SkipGoal", { robot_id: "r1" }, "moves", "never"],
  ["ChargeRobot", { robot_id: "r1" }, "moves", "never"],
  ["PauseRobot", { amr_id: 1 }, "stops", "repeatable"],
  ["ResumeRobot", { amr_id: 1 }, "moves", "never"],
  ["CancelTaskChain", { task_chain_id: 1 }, "stops", "never"],
  ["FinishTaskChain", { task_chain_id: 1 }, "moves", "never"],
  ["DeleteWebhook", { id: "w" }, "changes", "repeatable"],
  ["GetOnlineRobots", {}, "reads", "repeatable"],
] as const)("%s %j %s, and is %s", (name, json, effect, repeat) => {
  const request = parsed(name, json);
  expect(request.effect).toBe(effect);
  expect(request.repeat.kind).toBe(repeat);
});

test("a request says which robot it is about, by the name that it uses", () => {
  expect(parsed("SkipGoal", { robot_id: "r1" })).toMatchObject({ robotId: "r1", subject: { kind: "robot" } });
  expect(parsed("PauseRobot", { amr_id: 7 })).toMatchObject({
    robotId: null,
    subject: { kind: "robot_number", amrId: 7 },
  });
  expect(parsed("CancelTaskChain", { task_chain_id: 9 }).subject).toMatchObject({
    kind: "task_chain",
    chainId: 9,
  });
  const chain = (taskChain: object) => parsed("AddTaskChain", { taskChain, tasks: [] }).subject;
  expect(chain({ amrId: 3 })).toEqual({ kind: "robot_number", amrId: 3 });
  expect(chain({ amrId: 3, groupId: 1 })).toEqual({ kind: "fleet" });
  expect(chain({})).toEqual({ kind: "fleet" });
});

test("a conveyor command names what it starts and what it stops", () => {
  expect(parsed("ControlConveyor", conveyor("STOP", "CW")).conveyors).toEqual({ started: [1], stopped: [0] });
});

test("the evidence of a mission is its type and its goals", () => {
  expect(parsed("CreateMission", traverse("snake")).evidence).toEqual({
    kind: "new_mission",
    types: [{ family: "cart", type: "CART_TYPE_TRAVERSE" }],
    goals: [{ kind: "destination", destinationId: "A" }],
  });
  expect(parsed("ChargeRobot", { robot_id: "r1" }).evidence).toEqual({
    kind: "new_mission",
    types: [{ family: "none" }],
    goals: null,
  });
});

test("the evidence of a task chain is a new one with its reference", () => {
  const { evidence, identityField } = parsed("AddTaskChain", {
    taskChain: { amrId: 3, taskSeq: "ours" },
    tasks: [],
  });
  expect(identityField).toEqual(["taskChain", "taskSeq"]);
  if (evidence.kind !== "query") throw new Error("evidence should be asked for");
  const robots = { robots: [{ id: "3", task_chain_id: 12 }] };
  const chains = { task_chains: [{ task_chain_state: { id: 12, task_seq: "ours" }, task_states: [] }] };
  const query = evidence.queries[1]?.request([robots]);
  expect(openedJson(query ?? {})).toEqual({
    operation: "QueryTaskChain",
    requestJson: '{"taskChainIds":[12]}',
  });
  expect(evidence.evaluate([robots, chains], evidence.baseline?.([robots, { task_chains: [] }]))).toContain(
    "chain 12",
  );
  expect(evidence.evaluate([robots, chains], evidence.baseline?.([robots, chains]))).toBeNull();
});
