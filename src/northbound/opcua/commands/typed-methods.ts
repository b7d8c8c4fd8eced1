import { DataType } from "node-opcua";
import type { MethodArgument } from "../method-arguments.ts";
import { argumentTexts, methodTexts, operationText } from "../model/method.ts";
import type { Text } from "../model/text.ts";
import { conveyorRequest } from "./conveyor-slot.ts";
import type { Draft } from "./draft.ts";
import { noParameters, slotOperations } from "./mission-request.ts";
import type { Argument, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

/** A method of a robot with typed arguments. */
export interface TypedMethod {
  readonly name: string;
  readonly text: Text;
  /** The operation of the fleet service that it becomes, for the rights of its caller. */
  readonly operation: string;
  readonly inputs: readonly MethodArgument[];
  draft(values: readonly unknown[], robot: MissionRobot): Draft;
}

const MILLI = 1_000;
const index = input("ConveyorIndex", DataType.Int32);

/** What a method asks for, and what a slot's parameters would be then. */
const inputsOf: Readonly<
  Record<
    Argument,
    {
      readonly inputs: readonly MethodArgument[];
      read(values: readonly unknown[]): Partial<MissionParameters>;
    }
  >
> = {
  nothing: { inputs: [], read: () => ({}) },
  goal: {
    inputs: [input("Destination", DataType.String)],
    read: ([destination]) => ({ destination: String(destination ?? "") }),
  },
  goals: {
    inputs: [
      {
        ...input("Destinations", DataType.String),
        isList: true,
      },
    ],
    read: ([list]) => ({ destinations: Array.isArray(list) ? list.map((name) => String(name ?? "")) : [] }),
  },
  pose: {
    inputs: [input("X", DataType.Double), input("Y", DataType.Double), input("Heading", DataType.Double)],
    read(values) {
      const pose = values.map((value) => Math.round(Number(value) * MILLI));
      return { pose: pose.every(Number.isFinite) ? pose : null };
    },
  },
  mission: {
    inputs: [input("MissionId", DataType.String)],
    read: ([missionId]) => ({ targetMissionId: String(missionId ?? "") }),
  },
  task_chain: {
    inputs: [input("TaskChainId", DataType.Int32)],
    read: ([chainId]) => ({ targetTaskChainId: Number(chainId) }),
  },
};

/** One for each operation of a mission slot, and those of conveyors. */
export const typedMethods: readonly TypedMethod[] = [
  ...[...slotOperations.values()].map(ofOperation),
  {
    name: "ConveyorRun",
    text: methodTexts.ConveyorRun,
    operation: "ControlConveyor",
    inputs: [index, input("MotorCommand", DataType.Int32)],
    draft: ([at, motor], { robotId }) => conveyorRequest(robotId, Number(at), Number(motor)),
  },
  {
    name: "ConveyorStop",
    text: methodTexts.ConveyorStop,
    operation: "ControlConveyor",
    inputs: [index],
    draft: ([at], { robotId }) => conveyorRequest(robotId, Number(at), 1),
  },
];

function ofOperation({ number, name, operation, argument, draft }: SlotOperation): TypedMethod {
  const { inputs, read } = inputsOf[argument];
  return {
    name,
    text: operationText(number),
    operation,
    inputs,
    draft: (values, robot) =>
      draft({ ...noParameters, operation: number, ...read(values) }, robot, new Map()),
  };
}

function input(name: keyof typeof argumentTexts, dataType: DataType): MethodArgument {
  return { name, dataType, text: argumentTexts[name] };
}
