import type { Family, RobotId } from "../../../domain/robot.ts";
import type { Draft, RequestDraft } from "./draft.ts";

/** What a mission slot's parameters say. */
export interface MissionParameters {
  readonly operation: number;
  readonly destination: string;
  /** Numbers of the configuration instead of names: the one of `DestinationNo`, or those of an array. */
  readonly destinationNos: readonly number[];
  readonly destinations: readonly string[];
  readonly targetMissionId: string;
  /** 0: the robot's own. */
  readonly targetTaskChainId: number;
  /** x and y in millimetres, heading in milliradians; null: not written. */
  readonly pose: readonly number[] | null;
}

/** What the slot knows of its robot. */
export interface MissionRobot {
  readonly robotId: RobotId;
  readonly family: Family;
  /** The robot's current mission; null when none is known. */
  readonly currentMissionId: string | null;
  /** The number by which task chains name it; null until the service has listed it. */
  readonly amrId: number | null;
  /** The task chain that it executed when it was listed last; null: none. */
  readonly taskChain: { readonly chainId: number; readonly isSeenNow: boolean } | null;
  /**
   * What pauses that which the robot does now, a mission or a task chain (domain/stops); null when it does
   * nothing.
   */
  readonly pauseNow: () => RequestDraft | null;
}

/** What an operation is about, besides the robot. Parameters, places and fields follow from it. */
export type Argument = "nothing" | "goal" | "goals" | "pose" | "mission" | "task_chain";

/** One value of `Operation`. */
export interface SlotOperation {
  readonly number: number;
  /** Its method's name, in one word. */
  readonly name: string;
  /** What it becomes of the fleet service. A stop that nothing can be named for becomes another one. */
  readonly operation: string;
  /** For people, as it begins `AcceptedText`. */
  readonly text: string;
  readonly argument: Argument;
  /** Only robots of this family know it; null: all do. */
  readonly family: "cart" | "serve" | null;
  /** Nothing that it does not use holds it back. */
  readonly isStop: boolean;
  /** The request that it stands for; `named` are the destinations that have numbers. */
  draft(parameters: MissionParameters, robot: MissionRobot, named: ReadonlyMap<number, string>): Draft;
}

type ParameterName = Exclude<keyof MissionParameters, "operation">;

/**
 * The parameters that count for each argument. Whatever says where a mission goes counts for every mission: a
 * PLC whose route was refused must not see its robot go to the destination of the last one.
 */
export const parametersOf: Readonly<Record<Argument, readonly ParameterName[]>> = {
  nothing: [],
  goal: ["destination", "destinationNos", "destinations"],
  goals: ["destination", "destinationNos", "destinations"],
  pose: ["pose"],
  mission: ["targetMissionId"],
  task_chain: ["targetTaskChainId"],
};

/** How many places of `Command` each argument takes, behind the operation. */
const placesOf: Readonly<Record<Argument, number>> = {
  nothing: 0,
  goal: 1,
  goals: Number.POSITIVE_INFINITY,
  pose: 3,
  // A mission has no number.
  mission: 0,
  task_chain: 1,
};

/**
 * How many places of `Command` an operation uses. A stop uses none: numbers that an earlier command has left
 * there must not turn it to something else.
 */
export function placesInUse({ argument, isStop }: SlotOperation): number {
  return isStop ? 0 : placesOf[argument];
}

/** Why a robot of this family does not know the operation; null when it may. */
export function familyProblem(
  { number, family }: Pick<SlotOperation, "number" | "family">,
  robot: Pick<MissionRobot, "family">,
): { readonly problem: string } | null {
  if (family === null || robot.family === "unknown" || robot.family === family) return null;
  return { problem: `Operation ${number} is for ${family} robots, and this is a ${robot.family} robot` };
}
