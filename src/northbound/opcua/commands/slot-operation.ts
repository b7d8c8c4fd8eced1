import type { Family, RobotId } from "../../../domain/robot.ts";
import type { SlotCommand, SlotRequest } from "./slot-command.ts";

/** The values of a mission slot's parameters. */
export interface MissionParameters {
  readonly operation: number;
  readonly destination: string;
  /** Numbers of the configuration in place of names: that of `DestinationNo`, or those of an array. */
  readonly destinationNos: readonly number[];
  readonly destinations: readonly string[];
  readonly targetMissionId: string;
  /** 0: the robot's own. */
  readonly targetTaskChainId: number;
  /** x and y in millimetres, heading in milliradians; null: not written. */
  readonly pose: readonly number[] | null;
}

/** The robot of a slot, as far as it is known. */
export interface MissionRobot {
  readonly robotId: RobotId;
  readonly family: Family;
  /** The robot's current mission; null: not known. */
  readonly currentMissionId: string | null;
  /** The number by which task chains name it; null: the service has not listed it yet. */
  readonly amrId: number | null;
  /** The task chain that it executed in the last online list; null: none. */
  readonly taskChain: { readonly chainId: number; readonly isSeenNow: boolean } | null;
  /**
   * The request that pauses the robot's present mission or task chain (domain/stops); null: there is nothing
   * to pause.
   */
  readonly pauseNow: () => SlotRequest | null;
}

/** The object of an operation, besides the robot. Parameters, elements and fields follow from it. */
export type Argument = "nothing" | "goal" | "goals" | "pose" | "mission" | "task_chain";

/** The meaning of a number: in English and in German. */
export type Meaning = readonly [en: string, de: string];

/** One value of `Operation`. */
export interface SlotOperation {
  readonly number: number;
  /** Its method's name, in one word. */
  readonly name: string;
  /** What it means, in a few words. */
  readonly meaning: Meaning;
  /** The operation of the fleet service. A stop without an object may become another one. */
  readonly operation: string;
  readonly argument: Argument;
  /** Only robots of this family have it; null: all do. */
  readonly family: "cart" | "serve" | null;
  /** No unused parameter holds it back. */
  readonly isStop: boolean;
  /** Its request, with a text that `AcceptedText` shows; `named` are the destinations that have numbers. */
  command(
    parameters: MissionParameters,
    robot: MissionRobot,
    named: ReadonlyMap<number, string>,
  ): SlotCommand;
}

type ParameterName = Exclude<keyof MissionParameters, "operation">;

/**
 * The parameters that count for each argument. Every parameter of a goal counts for every mission: a PLC
 * whose route was refused must not see its robot drive to the destination of the last one.
 */
export const parametersOf: Readonly<Record<Argument, readonly ParameterName[]>> = {
  nothing: [],
  goal: ["destination", "destinationNos", "destinations"],
  goals: ["destination", "destinationNos", "destinations"],
  pose: ["pose"],
  mission: ["targetMissionId"],
  task_chain: ["targetTaskChainId"],
};

/** How many elements of `Command` each argument uses, after the operation. */
const placesOf: Readonly<Record<Argument, number>> = {
  nothing: 0,
  goal: 1,
  goals: Number.POSITIVE_INFINITY,
  pose: 3,
  // Missions have no numbers.
  mission: 0,
  task_chain: 1,
};

/**
 * How many elements of `Command` an operation uses. A stop uses none: numbers that an earlier command has
 * left there must not turn it to something else.
 */
export function placesInUse({ argument, isStop }: SlotOperation): number {
  return isStop ? 0 : placesOf[argument];
}

/** Why robots of this family do not have the operation; null: they have it. */
export function familyProblem(
  { number, family }: Pick<SlotOperation, "number" | "family">,
  robot: Pick<MissionRobot, "family">,
): { readonly problem: string } | null {
  if (family === null || robot.family === "unknown" || robot.family === family) return null;
  return { problem: `Operation ${number} is for ${family} robots, and this is a ${robot.family} robot` };
}
