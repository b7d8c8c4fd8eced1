import type { Family, RobotId } from "../../../domain/robot.ts";
import type { Json } from "../../../platform/json.ts";
import type { Draft } from "./draft.ts";

/** What a mission slot's parameters say. */
export interface MissionParameters {
  readonly operation: number;
  readonly destination: string;
  readonly destinations: readonly string[];
  readonly targetMissionId: string;
}

/** What the slot knows of its robot. */
export interface MissionRobot {
  readonly robotId: RobotId;
  readonly family: Family;
  /** The robot's current mission; null when none is known. */
  readonly currentMissionId: string | null;
}

interface MissionKind {
  readonly name: string;
  readonly goals: "one" | "many";
  /** Only robots of this family know it; null: all do. */
  readonly family: "cart" | "serve" | null;
}

/** CreateMission by the value of `Operation`; 20 more is AppendMission. */
const missionKinds: ReadonlyMap<number, MissionKind> = new Map([
  [1, { name: "navigateMission", goals: "one", family: null }],
  [2, { name: "navigateAutoMission", goals: "many", family: null }],
  [3, { name: "traverseMission", goals: "many", family: "cart" }],
  [4, { name: "traversePatrolMission", goals: "many", family: "cart" }],
  [5, { name: "deliveryMission", goals: "many", family: "serve" }],
  [6, { name: "deliveryPatrolMission", goals: "many", family: "serve" }],
  [7, { name: "bussingMission", goals: "many", family: "serve" }],
  [8, { name: "bussingPatrolMission", goals: "many", family: "serve" }],
]);

/** UpdateMission by the value of `Operation`. */
const missionCommands: ReadonlyMap<number, string> = new Map([
  [10, "COMMAND_CANCEL"],
  [11, "COMMAND_PAUSE"],
  [12, "COMMAND_RESUME"],
  [13, "COMMAND_FINISH"],
]);

const APPEND = 20;
const CHARGE = 30;
const SKIP_GOAL = 31;

/** Whether `Operation` may have this value; 0 is none, which a slot shows at first. */
export function isMissionOperation(value: number): boolean {
  return (
    value === 0 ||
    value === CHARGE ||
    value === SKIP_GOAL ||
    missionCommands.has(value) ||
    missionKinds.has(value) ||
    missionKinds.has(value - APPEND)
  );
}

/** The request that a mission slot's parameters stand for. */
export function missionRequest(parameters: MissionParameters, robot: MissionRobot): Draft {
  const { operation } = parameters;
  const { robotId } = robot;
  if (operation === 0) return { problem: "Operation is 0, which is no operation" };
  if (operation === CHARGE) return { operation: "ChargeRobot", request: { robotId }, missionId: null };
  if (operation === SKIP_GOAL) return { operation: "SkipGoal", request: { robotId }, missionId: null };
  const command = missionCommands.get(operation);
  if (command !== undefined) return updateRequest(command, parameters, robot);
  const kind = missionKinds.get(operation) ?? missionKinds.get(operation - APPEND);
  if (kind === undefined) return { problem: `Operation ${operation} is no operation` };
  const mission = missionOf(kind, parameters, robot);
  if ("problem" in mission) return mission;
  const name = operation > APPEND ? "AppendMission" : "CreateMission";
  return { operation: name, request: { robotId, mission: mission.json }, missionId: null };
}

/** Without TargetMissionId the command is for the mission that the robot is on. */
function updateRequest(command: string, parameters: MissionParameters, robot: MissionRobot): Draft {
  const missionId = parameters.targetMissionId === "" ? robot.currentMissionId : parameters.targetMissionId;
  if (missionId === null) {
    return { problem: "TargetMissionId is empty, and no current mission of the robot is known" };
  }
  const request = { robotId: robot.robotId, missionCommand: { missionId, command } };
  return { operation: "UpdateMission", request, missionId };
}

function missionOf(
  kind: MissionKind,
  parameters: MissionParameters,
  robot: MissionRobot,
): { readonly json: Json } | { readonly problem: string } {
  if (kind.family !== null && robot.family !== "unknown" && robot.family !== kind.family) {
    return {
      problem: `Operation ${parameters.operation} is for ${kind.family} robots, and this is a ${robot.family} robot`,
    };
  }
  const goals = goalsOf(kind, parameters);
  if ("problem" in goals) return goals;
  const fields = kind.goals === "one" ? { goal: goals.list[0] ?? null } : { goals: goals.list };
  return { json: { [wrapperOf(kind, robot.family)]: { [kind.name]: fields } } };
}

/** Each family has its own wrapper; base missions are for all, so also for a robot whose family is not known. */
function wrapperOf(kind: MissionKind, family: Family): string {
  const named = kind.family ?? family;
  return named === "unknown" ? "baseMission" : `${named}Mission`;
}

function goalsOf(
  kind: MissionKind,
  parameters: MissionParameters,
): { readonly list: readonly Json[] } | { readonly problem: string } {
  const { destination, destinations } = parameters;
  if (kind.goals === "one") {
    return destination === ""
      ? { problem: "Destination is empty" }
      : { list: [{ destinationId: destination }] };
  }
  const used = destinations.findLastIndex((name) => name !== "") + 1;
  if (used === 0) {
    return destination === ""
      ? { problem: "Destinations and Destination are empty" }
      : { list: [{ destinationId: destination }] };
  }
  const list = destinations.slice(0, used);
  const gap = list.indexOf("");
  if (gap !== -1) return { problem: `Destinations[${gap}] is empty, and a later one is not` };
  return { list: list.map((destinationId) => ({ destinationId })) };
}
