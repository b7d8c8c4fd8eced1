import type { RobotId } from "../../../domain/robot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Draft } from "./draft.ts";
import { addNumberParameter, parameterPlace } from "./parameter.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { SlotParts } from "./slot-parts.ts";
import { addSlotTags } from "./slot-tags.ts";
import { strayNumber } from "./stray-number.ts";

/** `MotorCommand` by number, as the service's own enum; 0 is none. */
const motorCommands: ReadonlyMap<number, string> = new Map([
  [1, "COMMAND_CONVEYOR_MOTOR_STOP"],
  [2, "COMMAND_CONVEYOR_MOTOR_CW"],
  [3, "COMMAND_CONVEYOR_MOTOR_CCW"],
]);

/** Adds a cart's `ConveyorSlot` under its robot. */
export function addConveyorSlot(
  builder: NodeBuilder,
  robot: Folder,
  robotId: RobotId,
  parts: SlotParts,
): Slot {
  const folder = builder.folder(robot, "ConveyorSlot");
  const place = parameterPlace(builder, folder, parts.offersConfirm);
  const index = addNumberParameter(place, "ConveyorIndex", Number.isInteger);
  const motor = addNumberParameter(place, "MotorCommand", isMotorCommand);
  return createSlot(
    {
      path: folder.path,
      parameters: [index, motor],
      tags: addSlotTags(builder, folder, parts),
      draft: () => conveyorRequest(robotId, index.value(), motor.value()),
      reads: () => [index, motor],
      draftOf: (numbers) => arrayDraft(robotId, numbers),
      follow() {},
    },
    parts,
  );
}

/** `Command`: the conveyor, what it is to do, and nothing else. */
function arrayDraft(robotId: RobotId, numbers: readonly number[]): Draft {
  const [index = 0, motor = 0] = numbers;
  const stray = isConveyorStop(motor) ? null : strayNumber(numbers, (place) => place <= 2);
  return stray ?? conveyorRequest(robotId, index, motor);
}

/** Whether `MotorCommand` is the stop, which nothing may hold back that it does not use. */
export function isConveyorStop(motor: number): boolean {
  return motor === 1;
}

/** The request that turns or stops one conveyor; `motor` as in `MotorCommand`. */
export function conveyorRequest(robotId: RobotId, index: number, motor: number): Draft {
  const command = motorCommands.get(motor);
  if (command === undefined) return { problem: `MotorCommand ${motor} is no command` };
  return {
    operation: "ControlConveyor",
    request: { robotId, commands: [{ index, command }] },
    missionId: null,
  };
}

/** Whether `MotorCommand` may have this value. */
export function isMotorCommand(value: number): boolean {
  return value === 0 || motorCommands.has(value);
}
