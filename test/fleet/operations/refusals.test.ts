import { expect, it } from "vitest";
import { badRequest } from "../../../src/domain/outcome.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";

const catalogue = createCatalogue();

/** What a sender reads of a request that an operation does not take. */
function told(name: string, json: unknown): string {
  const parsed = catalogue.get(name)?.parse(json);
  if (parsed === undefined || parsed.ok) throw new Error(`${name} takes it`);
  return badRequest(parsed.problem).message;
}

const goals = (...list: readonly unknown[]) => ({
  robotId: "r1",
  mission: { cartMission: { traverseMission: { goals: list } } },
});

it.each<[string, unknown, string]>([
  ["CreateMission", [], "request: should be an object, and is a list"],
  ["CreateMission", { mission: {} }, "request.robot_id: is required"],
  ["ControlConveyor", { robotId: "r1" }, "request.commands: is required"],
  [
    "CreateMission",
    goals(...new Array(40).fill({ destinationId: "x".repeat(4_000) })),
    "request: has 160914 characters, and may have 131072",
  ],
  [
    "CreateMission",
    goals({ destinationId: "x".repeat(4_097) }),
    "request.mission.cartMission.traverseMission.goals.0.destinationId: has 4097 characters, and may have 4096",
  ],
  [
    "CreateMission",
    { robotId: "r1", mission: { cart: {} } },
    "request.mission.cart: is no field of Mission, which has base_mission, serve_mission, cart_mission, extension",
  ],
  [
    "CreateMission",
    { robotId: "r1", robot_id: "r1" },
    "request: has the same field twice: robotId and robot_id",
  ],
  [
    "CreateMission",
    goals({ destinationId: "A" }, { destinationId: "B", pose: {} }),
    "request.mission.cartMission.traverseMission.goals.1: may have only one of destinationId and pose",
  ],
  [
    "CreateMission",
    goals({ pose: { xMeters: "far" } }),
    'request.mission.cartMission.traverseMission.goals.0.pose.xMeters: should be a number, and is "far"',
  ],
  [
    "CreateMission",
    { robotId: "r1", mission: { extension: {} } },
    "request.mission.extension: is kept for the maker; no operation takes it",
  ],
  ["SkipGoal", { robotId: 7 }, "request.robotId: should be a text, and is 7"],
  ["SkipGoal", { robotId: { x: 1 } }, "request.robotId: should be a text, and is an object"],
  [
    "SkipGoal",
    { robotId: "r1", ["k".repeat(70_000)]: 1 },
    `request.${"k".repeat(192)}…: is no field of SkipGoalRequest, which has robot_id`,
  ],
  [
    "UpdateMission",
    { robotId: "r1", missionCommand: { command: "y".repeat(70_000) } },
    `request.missionCommand.command: should be one of COMMAND_UNKNOWN, COMMAND_CANCEL, COMMAND_PAUSE, COMMAND_RESUME, COMMAND_FINISH, and is "${"y".repeat(39)}…`,
  ],
  ["PauseRobot", { amrId: 2 ** 31 }, "request.amrId: should be a whole number of 32 bits, and is 2147483648"],
  ["PauseRobot", { amrId: 1, stopNow: "yes" }, 'request.stopNow: should be true or false, and is "yes"'],
  ["QueryTaskChain", { taskChainIds: 7 }, "request.taskChainIds: should be a list, and is 7"],
])("MALFORMED: %s %#", (name, json, message) => {
  expect(told(name, json)).toBe(message);
});
