import type { Family, RobotId } from "../../../domain/robot.ts";
import type { Json } from "../../../platform/json.ts";
import type { Draft } from "./draft.ts";

/** What a mission slot's parameters say. */
export interface MissionParameters {
  readonly operation: number;
  readonly destination: string;
  /** Numbers of the configuration instead of names: the one of `DestinationNo`, or those of an array. */
  readonly destinationNos: readonly number[];
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

/** UpdateMission by the value of `Operation`. Cancel and pause are stops. */
const missionCommands: ReadonlyMap<number, string> = new Map([
  [10, "COMMAND_CANCEL"],
  [11, "COMMAND_PAUSE"],
  [12, "COMMAND_RESUME"],
  [13, "COMMAND_FINISH"],
]);

const stops: ReadonlySet<number> = new Set([10, 11]);

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

/**
 * Which parameters count for an operation, besides itself. Whatever says where a mission goes counts for every
 * mission: a PLC whose route was refused must not see its robot go to the destination of the last one.
 */
export function missionParametersInUse({
  operation,
}: MissionParameters): ReadonlyArray<Exclude<keyof MissionParameters, "operation">> {
  if (missionCommands.has(operation)) return ["targetMissionId"];
  const isMission = missionKinds.has(operation) || missionKinds.has(operation - APPEND);
  return isMission ? ["destination", "destinationNos", "destinations"] : [];
}

/** Whether `Operation` is a stop, which nothing may hold back that it does not use. */
export function isMissionStop(operation: number): boolean {
  return stops.has(operation);
}

/** How many destinations an operation may have; what is no operation might have any number. */
export function mostDestinations(operation: number): number {
  if (operation === CHARGE || operation === SKIP_GOAL || missionCommands.has(operation)) return 0;
  const kind = missionKinds.get(operation) ?? missionKinds.get(operation - APPEND);
  return kind?.goals === "one" ? 1 : Number.POSITIVE_INFINITY;
}

/** A mission as numbers only: the operation, and destinations by number until the first 0. */
export function numberedMission(operation: number, numbers: readonly number[]): MissionParameters {
  const end = numbers.findLastIndex((number) => number !== 0) + 1;
  const destinationNos = numbers.slice(0, end);
  return { operation, destination: "", destinationNos, destinations: [], targetMissionId: "" };
}

/** The request that a mission slot's parameters stand for; `named` are the destinations that have numbers. */
export function missionRequest(
  parameters: MissionParameters,
  robot: MissionRobot,
  named: ReadonlyMap<number, string>,
): Draft {
  const { operation } = parameters;
  const { robotId } = robot;
  if (operation === 0) return { problem: "Operation is 0, which is no operation" };
  if (operation === CHARGE) return { operation: "ChargeRobot", request: { robotId }, missionId: null };
  if (operation === SKIP_GOAL) return { operation: "SkipGoal", request: { robotId }, missionId: null };
  const command = missionCommands.get(operation);
  if (command !== undefined) return updateRequest(command, parameters, robot);
  const kind = missionKinds.get(operation) ?? missionKinds.get(operation - APPEND);
  if (kind === undefined) return { problem: `Operation ${operation} is no operation` };
  const mission = missionOf(kind, parameters, robot, named);
  if ("problem" in mission) return mission;
  const name = operation > APPEND ? "AppendMission" : "CreateMission";
  return { operation: name, request: { robotId, mission: mission.json }, missionId: null };
}

/**
 * Without TargetMissionId the command is for the mission that the robot is on. Where none is known a stop goes out
 * all the same, without a mission: it cancels the starts that wait in the gateway for this robot. What the robot
 * may be doing unseen is the service's to say, which refuses a command that names no mission.
 */
function updateRequest(command: string, parameters: MissionParameters, robot: MissionRobot): Draft {
  const missionId = parameters.targetMissionId === "" ? robot.currentMissionId : parameters.targetMissionId;
  if (missionId === null && !stops.has(parameters.operation)) {
    return { problem: "TargetMissionId is empty, and no current mission of the robot is known" };
  }
  const request = { robotId: robot.robotId, missionCommand: { missionId: missionId ?? "", command } };
  return { operation: "UpdateMission", request, missionId };
}

function missionOf(
  kind: MissionKind,
  parameters: MissionParameters,
  robot: MissionRobot,
  named: ReadonlyMap<number, string>,
): { readonly json: Json } | { readonly problem: string } {
  if (kind.family !== null && robot.family !== "unknown" && robot.family !== kind.family) {
    return {
      problem: `Operation ${parameters.operation} is for ${kind.family} robots, and this is a ${robot.family} robot`,
    };
  }
  const goals = goalsOf(kind, parameters, named);
  if ("problem" in goals) return goals;
  const fields = kind.goals === "one" ? { goal: goals.list[0] ?? null } : { goals: goals.list };
  return { json: { [wrapperOf(kind, robot.family)]: { [kind.name]: fields } } };
}

/** Each family has its own wrapper; base missions are for all, so also for a robot whose family is not known. */
function wrapperOf(kind: MissionKind, family: Family): string {
  const named = kind.family ?? family;
  return named === "unknown" ? "baseMission" : `${named}Mission`;
}

type Goals = { readonly list: readonly Json[] } | { readonly problem: string };

function goalsOf(
  kind: MissionKind,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Goals {
  const { destination, destinationNos, destinations } = parameters;
  const used = destinations.slice(0, destinations.findLastIndex((name) => name !== "") + 1);
  if (destinationNos.length > 0) {
    if (destination !== "" || used.length > 0) {
      return { problem: "DestinationNo is set, and Destination or Destinations too: which is meant?" };
    }
    return numberedGoals(destinationNos, named);
  }
  if (kind.goals === "one" || used.length === 0) {
    if (destination !== "") return { list: [{ destinationId: destination }] };
    const empty = kind.goals === "one" ? "Destination is empty" : "Destinations and Destination are empty";
    return { problem: empty };
  }
  const gap = used.indexOf("");
  if (gap !== -1) return { problem: `Destinations[${gap}] is empty, and a later one is not` };
  return { list: used.map((destinationId) => ({ destinationId })) };
}

function numberedGoals(numbers: readonly number[], named: ReadonlyMap<number, string>): Goals {
  const list: Json[] = [];
  for (const number of numbers) {
    const destinationId = named.get(number);
    if (destinationId === undefined) return { problem: `opcua.destinations has no number ${number}` };
    list.push({ destinationId });
  }
  return { list };
}
