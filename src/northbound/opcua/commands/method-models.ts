import type { DescribedOperation, OperationManual } from "../../../contracts/operation-manual.ts";
import type { TagType } from "../model/member.ts";
import { argumentTexts, type MethodArgument, type MethodModel, methodTexts } from "../model/method.ts";
import { chainOperations } from "./chain-operations.ts";
import { missionOperations } from "./mission-operations.ts";
import type { Argument, SlotOperation } from "./slot-operation.ts";

// Without node-opcua, because an export has the methods too.

const requestId = argument("RequestId", "String");
/** The first inputs of each command. */
export const commandInputs: readonly MethodArgument[] = [requestId, argument("ExpiresAt", "DateTime")];
const conveyorIndex = argument("ConveyorIndex", "Int32");

/** The outputs of every method. */
export const outputs: readonly MethodArgument[] = [
  argument("Outcome", "Int32"),
  argument("ErrorId", "Int32"),
  argument("ErrorText", "String"),
  argument("RetrySafe", "Boolean"),
  argument("ResponseJson", "String"),
  argument("Pending", "Boolean"),
];

const inputsOf: Readonly<Record<Argument, readonly MethodArgument[]>> = {
  nothing: [],
  goal: [argument("Destination", "String")],
  goals: [{ ...argument("Destinations", "String"), isList: true }],
  pose: [argument("X", "Double"), argument("Y", "Double"), argument("Heading", "Double")],
  mission: [argument("MissionId", "String")],
  task_chain: [argument("TaskChainId", "Int32")],
};

/** The method that asks for the outcome of a command. */
export const queryOutcome: MethodModel = {
  folder: "Operations",
  name: "QueryOutcome",
  text: methodTexts.QueryOutcome,
  inputs: [requestId],
  outputs,
  isOfRobots: true,
};

/** The methods with typed arguments that turn a conveyor. */
export const conveyorMethods = {
  run: typedMethod("ConveyorRun", methodTexts.ConveyorRun, [
    conveyorIndex,
    argument("MotorCommand", "Int32"),
  ]),
  stop: typedMethod("ConveyorStop", methodTexts.ConveyorStop, [conveyorIndex]),
} as const;

/** Every method of the gateway; `operations` are those of the fleet service. */
export function methodModels(operations: OperationManual): readonly MethodModel[] {
  return [
    ...[...operations.values()].map(operationMethod),
    queryOutcome,
    ...[...missionOperations, ...chainOperations].map(slotMethod),
    ...[conveyorMethods.run, conveyorMethods.stop],
  ];
}

/** The method of an operation of the fleet service, which takes its request. */
export function operationMethod({ name, summary, german }: DescribedOperation): MethodModel {
  return {
    folder: "Operations",
    name,
    text: { german: german.name, en: summary, de: german.summary },
    inputs: [...commandInputs, argument("Request", "String")],
    outputs,
    isOfRobots: false,
  };
}

/** The method of an operation of a slot, with typed arguments. */
export function slotMethod({ number, name, meaning: [en, de], argument }: SlotOperation): MethodModel {
  const text = {
    german: de.charAt(0).toUpperCase() + de.slice(1),
    en: `As Operation ${number} of a slot: ${en}`,
    de: `Wie Operation ${number} eines Slots: ${de}`,
  };
  return typedMethod(name, text, inputsOf[argument]);
}

function typedMethod(
  name: string,
  text: MethodModel["text"],
  inputs: readonly MethodArgument[],
): MethodModel {
  return {
    folder: "RobotMethods",
    name,
    text,
    inputs: [...commandInputs, ...inputs],
    outputs,
    isOfRobots: true,
  };
}

function argument(name: keyof typeof argumentTexts, type: TagType): MethodArgument {
  return { name, type, text: argumentTexts[name] };
}
