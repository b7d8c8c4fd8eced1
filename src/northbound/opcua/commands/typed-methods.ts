import { DataType } from "node-opcua";
import { conveyorRequest } from "./conveyor-slot.ts";
import type { Draft } from "./draft.ts";
import { noParameters, slotOperations } from "./mission-request.ts";
import type { Argument, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

/** An input of a method. */
export interface TypedInput {
  readonly name: string;
  readonly dataType: DataType;
  readonly text: string;
  readonly isList?: boolean;
}

/** A method of a robot with typed arguments. */
export interface TypedMethod {
  readonly name: string;
  readonly text: string;
  /** The operation of the fleet service that it becomes, for the rights of its caller. */
  readonly operation: string;
  readonly inputs: readonly TypedInput[];
  draft(values: readonly unknown[], robot: MissionRobot): Draft;
}

const MILLI = 1_000;
const text = (name: string, what: string): TypedInput => ({ name, dataType: DataType.String, text: what });
const int32 = (name: string, what: string): TypedInput => ({ name, dataType: DataType.Int32, text: what });
const double = (name: string, what: string): TypedInput => ({ name, dataType: DataType.Double, text: what });
const index = int32("ConveyorIndex", "The logical position of the conveyor");

/** What a method asks for, and what a slot's parameters would be then. */
const inputsOf: Readonly<
  Record<
    Argument,
    {
      readonly inputs: readonly TypedInput[];
      read(values: readonly unknown[]): Partial<MissionParameters>;
    }
  >
> = {
  nothing: { inputs: [], read: () => ({}) },
  goal: {
    inputs: [text("Destination", "Display name of a destination")],
    read: ([destination]) => ({ destination: String(destination ?? "") }),
  },
  goals: {
    inputs: [{ ...text("Destinations", "Display names of destinations, in their order"), isList: true }],
    read: ([list]) => ({ destinations: Array.isArray(list) ? list.map((name) => String(name ?? "")) : [] }),
  },
  pose: {
    inputs: [double("X", "Metres"), double("Y", "Metres"), double("Heading", "Radians")],
    read(values) {
      const pose = values.map((value) => Math.round(Number(value) * MILLI));
      return { pose: pose.every(Number.isFinite) ? pose : null };
    },
  },
  mission: {
    inputs: [text("MissionId", "Empty: the current mission")],
    read: ([missionId]) => ({ targetMissionId: String(missionId ?? "") }),
  },
  task_chain: {
    inputs: [int32("TaskChainId", "0: the chain that the robot executes")],
    read: ([chainId]) => ({ targetTaskChainId: Number(chainId) }),
  },
};

/** One for each operation of a mission slot, and those of conveyors. */
export const typedMethods: readonly TypedMethod[] = [
  ...[...slotOperations.values()].map(ofOperation),
  {
    name: "ConveyorRun",
    text: "Turns a conveyor",
    operation: "ControlConveyor",
    inputs: [index, int32("MotorCommand", "2 clockwise, 3 counter-clockwise")],
    draft: ([at, motor], { robotId }) => conveyorRequest(robotId, Number(at), Number(motor)),
  },
  {
    name: "ConveyorStop",
    text: "Stops a conveyor",
    operation: "ControlConveyor",
    inputs: [index],
    draft: ([at], { robotId }) => conveyorRequest(robotId, Number(at), 1),
  },
];

function ofOperation({ number, name, text: words, operation, argument, draft }: SlotOperation): TypedMethod {
  const { inputs, read } = inputsOf[argument];
  return {
    name,
    text: `As Operation ${number} of a slot: ${words}`,
    operation,
    inputs,
    draft: (values, robot) =>
      draft({ ...noParameters, operation: number, ...read(values) }, robot, new Map()),
  };
}
