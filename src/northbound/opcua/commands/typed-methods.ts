import { DataType } from "node-opcua";
import { missionOperation } from "../model/enums.ts";
import type { Text } from "../model/text.ts";
import { conveyorRequest } from "./conveyor-slot.ts";
import type { Draft } from "./draft.ts";
import { noParameters, slotOperations } from "./mission-request.ts";
import type { Argument, MissionParameters, MissionRobot, SlotOperation } from "./slot-operation.ts";

/** An input of a method. */
export interface TypedInput {
  readonly name: string;
  readonly dataType: DataType;
  readonly text: Text;
  readonly isList?: boolean;
}

/** A method of a robot with typed arguments. */
export interface TypedMethod {
  readonly name: string;
  readonly text: Text;
  /** The operation of the fleet service that it becomes, for the rights of its caller. */
  readonly operation: string;
  readonly inputs: readonly TypedInput[];
  draft(values: readonly unknown[], robot: MissionRobot): Draft;
}

const MILLI = 1_000;
const input = (dataType: DataType) => (name: string, en: string, de: string) =>
  ({ name, dataType, text: { en, de } }) satisfies TypedInput;
const text = input(DataType.String);
const int32 = input(DataType.Int32);
const double = input(DataType.Double);
const index = int32(
  "ConveyorIndex",
  "The logical position of the conveyor",
  "Die logische Position des Förderbands",
);
const meanings = new Map(missionOperation.values.map(({ value, text: meaning }) => [value, meaning]));

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
    inputs: [text("Destination", "Display name of a destination", "Anzeigename eines Ziels")],
    read: ([destination]) => ({ destination: String(destination ?? "") }),
  },
  goals: {
    inputs: [
      {
        ...text(
          "Destinations",
          "Display names of destinations, in their order",
          "Anzeigenamen von Zielen, in ihrer Reihenfolge",
        ),
        isList: true,
      },
    ],
    read: ([list]) => ({ destinations: Array.isArray(list) ? list.map((name) => String(name ?? "")) : [] }),
  },
  pose: {
    inputs: [
      double("X", "Metres", "Meter"),
      double("Y", "Metres", "Meter"),
      double("Heading", "Radians", "Radiant"),
    ],
    read(values) {
      const pose = values.map((value) => Math.round(Number(value) * MILLI));
      return { pose: pose.every(Number.isFinite) ? pose : null };
    },
  },
  mission: {
    inputs: [text("MissionId", "Empty: the current mission", "Leer: die aktuelle Mission")],
    read: ([missionId]) => ({ targetMissionId: String(missionId ?? "") }),
  },
  task_chain: {
    inputs: [
      int32("TaskChainId", "0: the chain that the robot executes", "0: die Kette, die der Roboter ausführt"),
    ],
    read: ([chainId]) => ({ targetTaskChainId: Number(chainId) }),
  },
};

/** One for each operation of a mission slot, and those of conveyors. */
export const typedMethods: readonly TypedMethod[] = [
  ...[...slotOperations.values()].map(ofOperation),
  {
    name: "ConveyorRun",
    text: { en: "Turns a conveyor", de: "Dreht ein Förderband" },
    operation: "ControlConveyor",
    inputs: [
      index,
      int32(
        "MotorCommand",
        "2 clockwise, 3 counter-clockwise",
        "2 im Uhrzeigersinn, 3 gegen den Uhrzeigersinn",
      ),
    ],
    draft: ([at, motor], { robotId }) => conveyorRequest(robotId, Number(at), Number(motor)),
  },
  {
    name: "ConveyorStop",
    text: { en: "Stops a conveyor", de: "Hält ein Förderband an" },
    operation: "ControlConveyor",
    inputs: [index],
    draft: ([at], { robotId }) => conveyorRequest(robotId, Number(at), 1),
  },
];

function ofOperation({ number, name, operation, argument, draft }: SlotOperation): TypedMethod {
  const meaning = meanings.get(number);
  if (meaning === undefined) throw new Error(`nothing says what Operation ${number} means`);
  const { inputs, read } = inputsOf[argument];
  return {
    name,
    text: {
      en: `As Operation ${number} of a slot: ${meaning.en}`,
      de: `Wie Operation ${number} eines Slots: ${meaning.de}`,
    },
    operation,
    inputs,
    draft: (values, robot) =>
      draft({ ...noParameters, operation: number, ...read(values) }, robot, new Map()),
  };
}
