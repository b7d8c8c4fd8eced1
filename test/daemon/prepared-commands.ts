import type { JsonObject } from "@bufbuild/protobuf";
import type { RobotKind, TestRobot } from "../contract/contract-harness.ts";
import { cartMission, cartWorkflow, command, navigate, tasks as tasksOf } from "../contract/requests.ts";

/** Sends an operation that has to be answered OK. @returns its answer, snake_case. */
export type Ask = (operation: string, request: JsonObject) => Promise<JsonObject>;

/** A command that is about to be sent, its robot being as it has to be. */
export interface Prepared {
  readonly request: JsonObject;
  /** A mission, with the state in which the gateway has to have seen it before the command leaves. */
  readonly missionSeen?: { readonly missionId: string; readonly state: string };
}

/** How to bring a robot to where a command makes sense, and the command. */
export interface Recipe {
  readonly robot: RobotKind;
  prepare(ask: Ask, robot: TestRobot): Promise<Prepared>;
}

const simple = (robot: RobotKind, request: (robot: TestRobot) => JsonObject): Recipe => ({
  robot,
  prepare: (_ask, chosen) => Promise.resolve({ request: request(chosen) }),
});

/** On a mission of its own to its farthest station. */
async function onMission(ask: Ask, { id, stations }: TestRobot): Promise<string> {
  const { mission_id: missionId } = await ask("CreateMission", navigate(id, stations[2]));
  return String(missionId);
}

const updating = (name: "CANCEL" | "PAUSE" | "FINISH"): Recipe => ({
  robot: "base",
  async prepare(ask, robot) {
    const missionId = await onMission(ask, robot);
    return {
      request: command(robot.id, missionId, name),
      missionSeen: { missionId, state: "STATE_RUNNING" },
    };
  },
});

const rolling = ({ id }: TestRobot, motor: string): JsonObject => ({
  robotId: id,
  commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }],
});

type Steps = ReadonlyArray<readonly [string, string]>;

/** On a task chain of its own. @returns its number. */
async function onChain(ask: Ask, { amrId, mapId }: TestRobot, steps: Steps): Promise<number> {
  const request = { taskChain: { amrId }, tasks: tasksOf(mapId, ...steps) };
  const { task_chain_id: chainId } = await ask("AddTaskChain", request);
  return Number(chainId);
}

const far = ({ codes }: TestRobot): Steps => [
  ["LOAD", codes[2]],
  ["UNLOAD", codes[0]],
];

const reassignment = ({ mapId, codes }: TestRobot): JsonObject => ({
  sequence: 2,
  isRetained: false,
  reassignTasks: tasksOf(mapId, ["UNLOAD", codes[1]]),
});

const onFarChain = (request: (robot: TestRobot, chainId: number) => JsonObject): Recipe => ({
  robot: "base",
  async prepare(ask, robot) {
    return { request: request(robot, await onChain(ask, robot, far(robot))) };
  },
});

const webhook = (url: string): JsonObject => ({
  url,
  eventType: "battery",
  selector: { locationIds: { ids: ["annex"] } },
});

/** By the table's name of each row: `operation` or `operation variant`. */
export const recipes: ReadonlyMap<string, Recipe> = new Map<string, Recipe>([
  ["CreateMission", simple("base", ({ id, stations }) => navigate(id, stations[2]))],
  [
    "AppendMission",
    {
      robot: "base",
      async prepare(ask, robot) {
        const missionId = await onMission(ask, robot);
        return {
          request: navigate(robot.id, robot.stations[0]),
          missionSeen: { missionId, state: "STATE_RUNNING" },
        };
      },
    },
  ],
  [
    "CreateMissionWorkflow",
    simple("cart", ({ id, stations }) => cartWorkflow(id, "traverse", [stations[1], stations[2]])),
  ],
  ["ChargeRobot", simple("base", ({ id }) => ({ robotId: id }))],
  ["UpdateMission CANCEL", updating("CANCEL")],
  ["UpdateMission PAUSE", updating("PAUSE")],
  [
    "UpdateMission RESUME",
    {
      robot: "base",
      async prepare(ask, robot) {
        const missionId = await onMission(ask, robot);
        await ask("UpdateMission", command(robot.id, missionId, "PAUSE"));
        return {
          request: command(robot.id, missionId, "RESUME"),
          missionSeen: { missionId, state: "STATE_PAUSED" },
        };
      },
    },
  ],
  ["UpdateMission FINISH", updating("FINISH")],
  [
    "SkipGoal",
    {
      robot: "cart",
      async prepare(ask, { id, stations }) {
        const request = cartMission(id, "traverseMission", [stations[2], stations[1]]);
        const { mission_id: missionId } = await ask("CreateMission", request);
        return {
          request: { robotId: id },
          missionSeen: { missionId: String(missionId), state: "STATE_RUNNING" },
        };
      },
    },
  ],
  [
    "ControlConveyor STOP",
    {
      robot: "cart",
      async prepare(ask, robot) {
        await ask("ControlConveyor", rolling(robot, "CW"));
        return { request: rolling(robot, "STOP") };
      },
    },
  ],
  ["ControlConveyor CW", simple("cart", (robot) => rolling(robot, "CW"))],
  ["ControlConveyor CCW", simple("cart", (robot) => rolling(robot, "CCW"))],
  [
    "AddTaskChain",
    simple("base", (robot) => ({
      taskChain: { amrId: robot.amrId },
      tasks: tasksOf(robot.mapId, ...far(robot)),
    })),
  ],
  ["ReassignTaskByAmrId", onFarChain((robot) => ({ amrId: robot.amrId, ...reassignment(robot) }))],
  [
    "ReassignTaskByTaskChainId",
    onFarChain((robot, chainId) => ({ taskChainId: chainId, ...reassignment(robot) })),
  ],
  [
    "FinishTaskChain",
    {
      robot: "base",
      async prepare(ask, robot) {
        // Without a point, the confirmation is waited for where the robot stands.
        const steps: Steps = [
          ["SYSTEM_CONFIRM", ""],
          ["UNLOAD", robot.codes[2]],
        ];
        return { request: { taskChainId: await onChain(ask, robot, steps) } };
      },
    },
  ],
  ["CancelTaskChain", onFarChain((_robot, chainId) => ({ taskChainId: chainId, force: true }))],
  ["PauseRobot", onFarChain(({ amrId }) => ({ amrId, stopNow: true }))],
  [
    "ResumeRobot",
    {
      robot: "base",
      async prepare(ask, robot) {
        await onChain(ask, robot, far(robot));
        await ask("PauseRobot", { amrId: robot.amrId, stopNow: true });
        return { request: { amrId: robot.amrId } };
      },
    },
  ],
  ["CreateWebhook", simple("base", () => webhook("https://hooks.example/created"))],
  [
    "DeleteWebhook",
    {
      robot: "base",
      async prepare(ask) {
        const answer = await ask("CreateWebhook", webhook("https://hooks.example/deleted"));
        const { webhook: made } = answer as { webhook: { id: string } };
        return { request: { id: made.id } };
      },
    },
  ],
  ["GetConveyorIndex", simple("cart", ({ id }) => ({ robotId: id }))],
  ["ListWebhooks", simple("base", () => ({}))],
  [
    "QueryTaskChain",
    {
      robot: "base",
      async prepare(ask, robot) {
        return { request: { taskChainIds: [await onChain(ask, robot, far(robot))] } };
      },
    },
  ],
  ["GetOnlineRobots", simple("base", () => ({}))],
  ["GetMap", simple("base", ({ mapId }) => ({ mapId }))],
]);
