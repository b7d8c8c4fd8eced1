import type { RobotId } from "../../../domain/robot.ts";
import { POSE_LENGTH } from "../model/slot.ts";
import type { StationNode } from "../options.ts";
import { chainOperations } from "./chain-operations.ts";
import { conveyorRequest, isMotorCommand } from "./conveyor-slot.ts";
import { missionOperations } from "./mission-operations.ts";
import type { SlotCommand } from "./slot-command.ts";
import {
  type MissionParameters,
  type MissionRobot,
  parametersOf,
  placesInUse,
  type SlotOperation,
} from "./slot-operation.ts";
import { wholeNumber } from "./written-ticket.ts";

/** Every value of `Operation` that mission slots and station slots have in common. */
export const slotOperations: ReadonlyMap<number, SlotOperation> = new Map(
  [...missionOperations, ...chainOperations].map((operation) => [operation.number, operation]),
);

/** Whether `Operation` may have this value; 0 means none, which a slot shows at first. */
export function isMissionOperation(value: number): boolean {
  return value === 0 || slotOperations.has(value);
}

/** Which parameters count for an operation, besides itself. */
export function missionParametersInUse(
  operation: number,
): ReadonlyArray<Exclude<keyof MissionParameters, "operation">> {
  const known = slotOperations.get(operation);
  return known === undefined ? [] : parametersOf[known.argument];
}

/** Whether `Operation` is a stop, which no unused parameter may hold back. */
export function isMissionStop(operation: number): boolean {
  return slotOperations.get(operation)?.isStop ?? false;
}

/** How many elements of `Command` an operation uses; an unknown operation might use any number. */
export function mostPlaces(operation: number): number {
  const known = slotOperations.get(operation);
  return known === undefined ? Number.POSITIVE_INFINITY : placesInUse(known);
}

/** Parameters without any value. */
export const noParameters = {
  destination: "",
  destinationNos: [],
  destinations: [],
  targetMissionId: "",
  targetTaskChainId: 0,
  pose: null,
} satisfies Omit<MissionParameters, "operation">;

/** A mission as numbers only: the operation, and its destinations up to the first 0. */
export function numberedMission(operation: number, numbers: readonly number[]): MissionParameters {
  const given = { ...noParameters, operation };
  const known = slotOperations.get(operation);
  if (known?.isStop) return given;
  if (known?.argument === "pose") return { ...given, pose: numbers.slice(0, POSE_LENGTH) };
  if (known?.argument === "task_chain") return { ...given, targetTaskChainId: numbers[0] ?? 0 };
  const end = numbers.findLastIndex((number) => number !== 0) + 1;
  return { ...given, destinationNos: numbers.slice(0, end) };
}

/** A command of `CommandText`, after the ticket: the operation, and its object by name. */
export function missionOfFields(fields: readonly string[]): MissionParameters | { readonly problem: string } {
  const [first = "", ...names] = fields;
  const operation = wholeNumber(first);
  if (operation === null) return { problem: "CommandText is not of the form number;operation;destination" };
  const given = { ...noParameters, operation };
  const known = slotOperations.get(operation);
  switch (known?.argument) {
    case "mission":
      if (names.length > 1 && !known.isStop) return { problem: `Operation ${operation} is for one mission` };
      return { ...given, targetMissionId: names[0] ?? "" };
    case "task_chain":
      return chainOfFields(given, names, known);
    case "pose": {
      const pose = names.map(wholeNumber).filter((number) => number !== null);
      if (pose.length === POSE_LENGTH && names.length === POSE_LENGTH) return { ...given, pose };
      return { problem: `Operation ${operation} needs x and y in mm and heading in mrad, as whole numbers` };
    }
    case "nothing":
      return known.isStop ? given : destinationsOfFields(given, names);
    default:
      return destinationsOfFields(given, names);
  }
}

function chainOfFields(
  given: MissionParameters,
  names: readonly string[],
  { number, isStop }: SlotOperation,
) {
  if (names.length > 1 && !isStop) return { problem: `Operation ${number} is for one task chain` };
  const [name = ""] = names;
  const targetTaskChainId = name === "" ? 0 : wholeNumber(name);
  return targetTaskChainId === null
    ? { problem: `Operation ${number} is for a task chain by its number, or for the robot's own` }
    : { ...given, targetTaskChainId };
}

function destinationsOfFields(given: MissionParameters, names: readonly string[]) {
  const most = mostPlaces(given.operation);
  if (names.length > most) {
    return { problem: `Operation ${given.operation} has at most ${most} destinations` };
  }
  return names.length === 1 ? { ...given, destination: names[0] ?? "" } : { ...given, destinations: names };
}

/** The request of a mission slot's parameters; `named` are the destinations that have numbers. */
export function missionRequest(
  parameters: MissionParameters,
  robot: MissionRobot,
  named: ReadonlyMap<number, string>,
): SlotCommand {
  const { operation } = parameters;
  if (operation === 0) return { problem: "Operation is 0, which is no operation" };
  const known = slotOperations.get(operation);
  return known === undefined
    ? { problem: `Operation ${operation} is no operation` }
    : known.command(parameters, robot, named);
}

/** `MotorCommand` of a station's slot besides those of a conveyor slot. */
const loadCommands = { load: 4, unload: 5 } as const;
/** The same two as in a conveyor slot. */
const turns = { CW: 2, CCW: 3 } as const;
const opposite = { CW: "CCW", CCW: "CW" } as const;

/** Whether `MotorCommand` of a station's slot may have this value. */
export function isLoadCommand(value: number): boolean {
  return isMotorCommand(value) || value === loadCommands.load || value === loadCommands.unload;
}

/**
 * The request that turns or stops one conveyor at a station; `load` is the direction in which conveyors take
 * a load there.
 */
export function loadRequest(
  robotId: RobotId,
  index: number | undefined,
  motor: number | undefined,
  load: StationNode["load"],
): SlotCommand {
  if (motor !== loadCommands.load && motor !== loadCommands.unload) {
    return conveyorRequest(robotId, index, motor);
  }
  if (load === null) {
    return { problem: `MotorCommand ${motor}: the station's configuration does not say how to load` };
  }
  const isLoad = motor === loadCommands.load;
  const command = conveyorRequest(robotId, index, turns[isLoad ? load : opposite[load]]);
  return "text" in command ? { ...command, text: `${isLoad ? "load" : "unload"}: ${command.text}` } : command;
}
