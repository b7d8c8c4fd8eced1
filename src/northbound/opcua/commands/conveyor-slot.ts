import type { RobotId } from "../../../domain/robot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { sourceOf } from "../security.ts";
import { addParameter } from "./parameter.ts";
import { numberKind } from "./parameter-kind.ts";
import type { Slot, SlotKindParts } from "./slot.ts";
import { missing, type SlotCommand } from "./slot-command.ts";
import { addSlotTags } from "./slot-tags.ts";
import { strayNumber, wholeNumber } from "./written-ticket.ts";

/** `MotorCommand` by number, like the service's own enum; 0 means none. */
const motorCommands: ReadonlyMap<number, { readonly name: string; readonly text: string }> = new Map([
  [1, { name: "COMMAND_CONVEYOR_MOTOR_STOP", text: "stop" }],
  [2, { name: "COMMAND_CONVEYOR_MOTOR_CW", text: "turn clockwise" }],
  [3, { name: "COMMAND_CONVEYOR_MOTOR_CCW", text: "turn counter-clockwise" }],
]);

const indexes = numberKind(Number.isInteger);
const motors = numberKind(isMotorCommand);

/** Adds a cart's `ConveyorSlot` under its robot. */
export function addConveyorSlot(
  builder: NodeBuilder,
  robot: Folder,
  robotId: RobotId,
  { runSlot, rights, userOf }: SlotKindParts,
): Slot {
  const folder = builder.folder(robot, "ConveyorSlot");
  const place = { builder, folder };
  const index = addParameter(place, "ConveyorIndex", indexes);
  const motor = addParameter(place, "MotorCommand", motors);
  return runSlot({
    path: folder.path,
    parameters: [index, motor],
    tags: addSlotTags(builder, folder, userOf),
    refusedWriter: (account) => rights.refusedRobot(sourceOf(account), robotId),
    command: (sessionId) => conveyorRequest(robotId, index.value(sessionId), motor.value(sessionId)),
    reads: () => [index, motor],
    commandOfNumbers: (numbers) => numberedCommand(robotId, numbers),
    commandOfFields: (fields) => textCommand(robotId, fields),
    served() {},
    begun() {},
    ended() {},
  });
}

/** `Command`: the conveyor, its motor command, and nothing else. */
function numberedCommand(robotId: RobotId, numbers: readonly number[]): SlotCommand {
  const [index = 0, motor = 0] = numbers;
  const stray = isConveyorStop(motor) ? null : strayNumber(numbers, (place) => place <= 2);
  return stray ?? conveyorRequest(robotId, index, motor);
}

/** `CommandText`: `number;conveyor;motor command`. */
function textCommand(robotId: RobotId, fields: readonly string[]): SlotCommand {
  const [index, motor] = fields.map(wholeNumber);
  const isTwo = fields.length === 2 || (fields.length > 2 && motor === 1);
  if (!isTwo) return { problem: "CommandText is not of the form number;conveyor;motor command" };
  return conveyorRequest(robotId, index ?? undefined, motor ?? undefined);
}

/** Whether `MotorCommand` is the stop, which no unused parameter may hold back. */
export function isConveyorStop(motor: number): boolean {
  return motor === 1;
}

/** The request that turns or stops one conveyor; `motor` as in `MotorCommand`. */
export function conveyorRequest(
  robotId: RobotId,
  index: number | undefined,
  motor: number | undefined,
): SlotCommand {
  if (index === undefined) return missing("ConveyorIndex");
  if (motor === undefined) return missing("MotorCommand");
  const command = motorCommands.get(motor);
  if (command === undefined) return { problem: `MotorCommand ${motor} is no command` };
  return {
    text: `conveyor ${index}: ${command.text}`,
    operation: "ControlConveyor",
    request: { robotId, commands: [{ index, command: command.name }] },
    missionId: null,
  };
}

/** Whether `MotorCommand` may have this value. */
export function isMotorCommand(value: number): boolean {
  return value === 0 || motorCommands.has(value);
}
