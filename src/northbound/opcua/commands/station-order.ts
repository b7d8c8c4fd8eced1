import { LONGEST_ROUTE, POSE_LENGTH } from "../model/slot.ts";
import { isConveyorStop } from "./conveyor-slot.ts";
import {
  isLoadCommand,
  isMissionOperation,
  isMissionStop,
  missionOfFields,
  missionParametersInUse,
  mostPlaces,
  numberedMission,
} from "./mission-request.ts";
import { addParameter, type Parameter, type ParameterPlace, type ValueParameter } from "./parameter.ts";
import {
  anyNumber,
  anyText,
  numberKind,
  numberListKind,
  type ParameterKind,
  textListKind,
} from "./parameter-kind.ts";
import { missing } from "./slot-command.ts";
import type { MissionParameters, MissionRobot } from "./slot-operation.ts";
import { strayNumber, wholeNumber } from "./written-ticket.ts";

/** The values of `Operation` of a station slot besides those of a mission slot. */
export const stationOperations = { conveyor: 40, ask: 50, release: 51, override: 52 } as const;
const ownOperations: ReadonlySet<number> = new Set(Object.values(stationOperations));

/** Finds a robot by name or number; undefined: it has no nodes. An empty name names none. */
export type FindRobot = (name: string, number: number) => MissionRobot | undefined;

/**
 * The robot of an order: undefined if it has no nodes, `two` if its name and number name different robots.
 */
export type NamedRobot = MissionRobot | undefined | "two";

/** A command of a station, as it was written. */
export interface StationOrder {
  readonly robot: NamedRobot;
  /** As it was written; empty in an array. */
  readonly robotName: string;
  readonly conveyorIndex: number | undefined;
  readonly motorCommand: number | undefined;
  readonly mission: MissionParameters;
}

interface Problem {
  readonly problem: string;
}

export function isStationOperation(value: number): boolean {
  return isMissionOperation(value) || ownOperations.has(value);
}

/** The robot that both parameters name. */
function namedRobot(findRobot: FindRobot, name: string, number: number): NamedRobot {
  const robot = findRobot(name, number);
  const isTwo = name !== "" && number !== 0 && robot?.robotId !== findRobot("", number)?.robotId;
  return isTwo ? "two" : robot;
}

/**
 * The order in `Command`, without the ticket: operation, robot number, conveyor, motor command, and the
 * object of a mission.
 */
export function orderOfNumbers(findRobot: FindRobot, numbers: readonly number[]): StationOrder | Problem {
  const [operation = 0, number = 0, index = 0, motor = 0, ...rest] = numbers;
  const isConveyor = operation === stationOperations.conveyor;
  const isStop = isConveyor ? isConveyorStop(motor) : isMissionStop(operation);
  const stray = isStop ? null : strayNumber(numbers, placesOf(operation));
  return (
    stray ?? {
      robot: findRobot("", number),
      robotName: "",
      conveyorIndex: index,
      motorCommand: motor,
      mission: numberedMission(operation, rest),
    }
  );
}

/**
 * The order in `CommandText`, without the ticket: `operation;robot;destination` or
 * `40;robot;conveyor;motor command`.
 */
export function orderOfFields(
  findRobot: FindRobot,
  [first = "", name = "", ...rest]: readonly string[],
): StationOrder | Problem {
  const operation = wholeNumber(first) ?? 0;
  const isOwn = ownOperations.has(operation);
  const isConveyor = operation === stationOperations.conveyor;
  const [index, motor] = rest.map((field) => wholeNumber(field) ?? undefined);
  const isStop = isConveyor && motor !== undefined && isConveyorStop(motor);
  if (isOwn && !isStop && rest.length !== (isConveyor ? 2 : 0)) {
    return {
      problem: `CommandText has ${rest.length} fields behind the robot, which is not right for ${first}`,
    };
  }
  const mission = isOwn ? numberedMission(operation, []) : missionOfFields([first, ...rest]);
  if ("problem" in mission) return { problem: `${mission.problem}, with the robot before the destination` };
  return { robot: findRobot(name, 0), robotName: name, conveyorIndex: index, motorCommand: motor, mission };
}

/** The elements of `Command` that an operation uses. */
function placesOf(operation: number): (place: number) => boolean {
  return (place) => {
    if (place <= 2) return true;
    if (place <= 4) return operation === stationOperations.conveyor;
    return !ownOperations.has(operation) && place <= 4 + mostPlaces(operation);
  };
}

/** The parameters of a station slot: those of a mission slot, the robot, and those of its conveyors. */
export interface StationParameters {
  readonly all: readonly Parameter[];
  /** The order that a session has written, or what is wrong with it. */
  order(sessionId: string): StationOrder | { readonly problem: string };
  /** The parameters that `order` reads. */
  inUse(sessionId: string): readonly Parameter[];
  /** Drops the values that serve one ticket only. */
  served(sessionId: string): void;
  /** The robot that the nodes show; null: none. */
  shownRobot(): NamedRobot | null;
}

const operations = numberKind(isStationOperation);
const motorCommands = numberKind(isLoadCommand);

export function addStationParameters(place: ParameterPlace, findRobot: FindRobot): StationParameters {
  const robotName = addParameter(place, "Robot", anyText);
  const robotNo = addParameter(place, "RobotNo", anyNumber);
  const mission = addMissionParameters(place, operations);
  const conveyorIndex = addParameter(place, "ConveyorIndex", anyNumber);
  const motorCommand = addParameter(place, "MotorCommand", motorCommands);

  return {
    all: [robotName, robotNo, ...mission.all, conveyorIndex, motorCommand],
    order(sessionId) {
      const [name, number] = [robotName.value(sessionId) ?? "", robotNo.value(sessionId) ?? 0];
      if (name === "" && number === 0) return missing("Robot (or RobotNo)");
      const asked = mission.read(sessionId);
      if ("problem" in asked) return asked;
      return {
        robot: namedRobot(findRobot, name, number),
        robotName: name,
        conveyorIndex: conveyorIndex.value(sessionId),
        motorCommand: motorCommand.value(sessionId),
        mission: asked,
      };
    },
    inUse(sessionId) {
      const isConveyor = mission.operation.value(sessionId) === stationOperations.conveyor;
      const isNamed = robotName.value(sessionId) !== undefined && robotNo.value(sessionId) === undefined;
      return [
        robotName,
        ...(isNamed ? [] : [robotNo]),
        ...mission.inUse(sessionId),
        ...(isConveyor ? [conveyorIndex, motorCommand] : []),
      ];
    },
    served: mission.served,
    shownRobot() {
      const [name, number] = [robotName.shown(), robotNo.shown()];
      return name === "" && number === 0 ? null : namedRobot(findRobot, name, number);
    },
  };
}

/** The tags of a slot that describe a mission. */
interface MissionParameterTags {
  readonly all: readonly Parameter[];
  readonly operation: ValueParameter<number>;
  /** The values of a session; a problem if it has not written the operation. */
  read(sessionId: string): MissionParameters | { readonly problem: string };
  /** The parameters that count for the session's operation, including `Operation` itself. */
  inUse(sessionId: string): readonly Parameter[];
  /** Drops the values that serve one ticket only: `TargetMissionId` and `TargetTaskChainId`. */
  served(sessionId: string): void;
}

const route = textListKind(LONGEST_ROUTE);
const poses = numberListKind(POSE_LENGTH);

/** Adds the tags; `operations` are the allowed values of `Operation`. */
export function addMissionParameters(
  place: ParameterPlace,
  operations: ParameterKind<number>,
): MissionParameterTags {
  const operation = addParameter(place, "Operation", operations);
  const destination = addParameter(place, "Destination", anyText);
  const destinationNo = addParameter(place, "DestinationNo", anyNumber);
  const destinations = addParameter(place, "Destinations", route);
  const targetMissionId = addParameter(place, "TargetMissionId", anyText);
  const targetTaskChainId = addParameter(place, "TargetTaskChainId", anyNumber);
  const pose = addParameter(place, "Pose", poses);
  const byName = {
    destination,
    destinationNos: destinationNo,
    destinations,
    targetMissionId,
    targetTaskChainId,
    pose,
  };
  return {
    all: [operation, destination, destinationNo, destinations, targetMissionId, targetTaskChainId, pose],
    operation,
    read(sessionId) {
      const chosen = operation.value(sessionId);
      if (chosen === undefined) return missing("Operation");
      const number = destinationNo.value(sessionId) ?? 0;
      return {
        operation: chosen,
        destination: destination.value(sessionId) ?? "",
        destinationNos: number === 0 ? [] : [number],
        destinations: destinations.value(sessionId) ?? [],
        targetMissionId: targetMissionId.value(sessionId) ?? "",
        targetTaskChainId: targetTaskChainId.value(sessionId) ?? 0,
        pose: pose.value(sessionId) ?? null,
      };
    },
    inUse(sessionId) {
      const names = missionParametersInUse(operation.value(sessionId) ?? 0);
      return [operation, ...names.map((name) => byName[name])];
    },
    served(sessionId) {
      targetMissionId.forget(sessionId);
      targetTaskChainId.forget(sessionId);
    },
  };
}
