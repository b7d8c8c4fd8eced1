import type { Family, RobotId } from "../../../domain/robot.ts";
import type { Json } from "../../../platform/json.ts";
import type { Draft, RequestDraft } from "./draft.ts";
import { wholeNumber } from "./written-ticket.ts";

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
  /**
   * What pauses that which the robot does now, a mission or a task chain (domain/stops); null when it does
   * nothing.
   */
  readonly pauseNow: () => RequestDraft | null;
}

interface MissionKind {
  readonly name: string;
  /** For people. */
  readonly text: string;
  readonly goals: "one" | "many";
  /** Only robots of this family know it; null: all do. */
  readonly family: "cart" | "serve" | null;
}

/** CreateMission by the value of `Operation`; 20 more is AppendMission. */
const missionKinds: ReadonlyMap<number, MissionKind> = new Map([
  [1, { name: "navigateMission", text: "navigate to", goals: "one", family: null }],
  [2, { name: "navigateAutoMission", text: "navigate to the first free of", goals: "many", family: null }],
  [3, { name: "traverseMission", text: "traverse", goals: "many", family: "cart" }],
  [4, { name: "traversePatrolMission", text: "patrol", goals: "many", family: "cart" }],
  [5, { name: "deliveryMission", text: "deliver to", goals: "many", family: "serve" }],
  [6, { name: "deliveryPatrolMission", text: "patrol for delivery", goals: "many", family: "serve" }],
  [7, { name: "bussingMission", text: "bus to", goals: "many", family: "serve" }],
  [8, { name: "bussingPatrolMission", text: "patrol for bussing", goals: "many", family: "serve" }],
]);

/** UpdateMission by the value of `Operation`. Cancel and pause are stops. */
const missionCommands: ReadonlyMap<number, { readonly name: string; readonly text: string }> = new Map([
  [10, { name: "COMMAND_CANCEL", text: "cancel" }],
  [11, { name: "COMMAND_PAUSE", text: "pause" }],
  [12, { name: "COMMAND_RESUME", text: "resume" }],
  [13, { name: "COMMAND_FINISH", text: "finish" }],
]);

const PAUSE = 11;
const stops: ReadonlySet<number> = new Set([10, PAUSE]);

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
 * Which parameters count for an operation, besides itself. Whatever says where a mission goes counts for
 * every mission: a PLC whose route was refused must not see its robot go to the destination of the last one.
 */
export function missionParametersInUse(
  operation: number,
): ReadonlyArray<Exclude<keyof MissionParameters, "operation">> {
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

/**
 * A mission as in `CommandText`, behind the ticket: the operation, and destinations or the mission by name.
 */
export function missionOfFields(fields: readonly string[]): MissionParameters | { readonly problem: string } {
  const [first = "", ...names] = fields;
  const operation = wholeNumber(first);
  if (operation === null) return { problem: "CommandText is not of the form ticket;operation;destination" };
  const isCommand = missionCommands.has(operation);
  if (isCommand && names.length > 1 && !isMissionStop(operation))
    return { problem: `Operation ${operation} is for one mission` };
  const given = { operation, destinationNos: [], destination: "", destinations: [], targetMissionId: "" };
  if (isCommand) return { ...given, targetMissionId: names[0] ?? "" };
  if (names.length > mostDestinations(operation)) {
    return { problem: `Operation ${operation} has at most ${mostDestinations(operation)} destinations` };
  }
  return names.length === 1 ? { ...given, destination: names[0] ?? "" } : { ...given, destinations: names };
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
  const plain = { request: { robotId }, missionId: null };
  if (operation === CHARGE) return { ...plain, operation: "ChargeRobot", text: "charge" };
  if (operation === SKIP_GOAL) return { ...plain, operation: "SkipGoal", text: "skip the current goal" };
  const command = missionCommands.get(operation);
  if (command !== undefined) return updateRequest(command, parameters, robot);
  const kind = missionKinds.get(operation) ?? missionKinds.get(operation - APPEND);
  if (kind === undefined) return { problem: `Operation ${operation} is no operation` };
  const mission = missionOf(kind, parameters, robot, named);
  if ("problem" in mission) return mission;
  const isAppended = operation > APPEND;
  return {
    text: `${isAppended ? "then " : ""}${kind.text} ${mission.goals.join(", ")}`,
    operation: isAppended ? "AppendMission" : "CreateMission",
    request: { robotId, mission: mission.json },
    missionId: null,
  };
}

/**
 * Without TargetMissionId the command is for the mission that the robot is on. Where none is known a stop
 * goes out all the same, without a mission: it cancels the starts that wait in the gateway for this robot.
 * What the robot may be doing unseen is the service's to say, which refuses a command that names no mission.
 */
function updateRequest(
  { name, text }: { readonly name: string; readonly text: string },
  parameters: MissionParameters,
  robot: MissionRobot,
): Draft {
  const isUnnamed = parameters.targetMissionId === "";
  const pause = isUnnamed && parameters.operation === PAUSE ? robot.pauseNow() : null;
  if (pause !== null) return pause;
  const missionId = isUnnamed ? robot.currentMissionId : parameters.targetMissionId;
  if (missionId === null && !stops.has(parameters.operation)) {
    return { problem: "TargetMissionId is empty, and no current mission of the robot is known" };
  }
  const request = { robotId: robot.robotId, missionCommand: { missionId: missionId ?? "", command: name } };
  const what = missionId === null ? "whatever waits" : `mission ${missionId}`;
  return { text: `${text} ${what}`, operation: "UpdateMission", request, missionId };
}

function missionOf(
  kind: MissionKind,
  parameters: MissionParameters,
  robot: MissionRobot,
  named: ReadonlyMap<number, string>,
): { readonly json: Json; readonly goals: readonly string[] } | { readonly problem: string } {
  if (kind.family !== null && robot.family !== "unknown" && robot.family !== kind.family) {
    return {
      problem: `Operation ${parameters.operation} is for ${kind.family} robots, and this is a ${robot.family} robot`,
    };
  }
  const goals = goalsOf(kind, parameters, named);
  if ("problem" in goals) return goals;
  const list = goals.list.map((destinationId): Json => ({ destinationId }));
  const fields = kind.goals === "one" ? { goal: list[0] ?? null } : { goals: list };
  return { json: { [wrapperOf(kind, robot.family)]: { [kind.name]: fields } }, goals: goals.list };
}

/**
 * Each family has its own wrapper; base missions are for all, so also for a robot whose family is not known.
 */
function wrapperOf(kind: MissionKind, family: Family): string {
  const named = kind.family ?? family;
  return named === "unknown" ? "baseMission" : `${named}Mission`;
}

/** Destinations by name. */
type Goals = { readonly list: readonly string[] } | { readonly problem: string };

function goalsOf(
  kind: MissionKind,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Goals {
  const { destination, destinationNos, destinations } = parameters;
  const used = destinations.slice(0, destinations.findLastIndex((name) => name !== "") + 1);
  const given = [
    ...(destination === "" ? [] : ["Destination"]),
    ...(destinationNos.length === 0 ? [] : ["DestinationNo"]),
    ...(used.length === 0 ? [] : ["Destinations"]),
  ];
  if (given.length > 1) {
    return { problem: `${given.join(" and ")} are both set: empty all but the one that is meant` };
  }
  if (destinationNos.length > 0) return numberedGoals(destinationNos, named);
  if (destination !== "") return { list: [destination] };
  if (kind.goals === "one" || used.length === 0) {
    const other = kind.goals === "one" ? "" : ", and Destinations";
    return { problem: `Destination is missing, and DestinationNo${other} too: one of them says where to` };
  }
  const gap = used.indexOf("");
  if (gap !== -1) return { problem: `Destinations[${gap}] is empty, and a later one is not` };
  return { list: used };
}

function numberedGoals(numbers: readonly number[], named: ReadonlyMap<number, string>): Goals {
  const list: string[] = [];
  for (const number of numbers) {
    const destinationId = named.get(number);
    if (destinationId === undefined) return { problem: `opcua.destinations has no number ${number}` };
    list.push(destinationId);
  }
  return { list };
}
