import type { RobotId } from "../../../domain/robot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Draft } from "./draft.ts";
import { addNumberParameter } from "./parameter.ts";
import { createSlot, type Slot, type SlotParts } from "./slot.ts";
import { addSlotTags } from "./slot-tags.ts";

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
  const index = addNumberParameter(builder, folder, "ConveyorIndex", Number.isInteger);
  const motor = addNumberParameter(
    builder,
    folder,
    "MotorCommand",
    (value) => value === 0 || motorCommands.has(value),
  );
  return createSlot(
    {
      path: folder.path,
      parameters: [index, motor],
      tags: addSlotTags(builder, folder, () => parts.clock.nowMs()),
      draft: () => conveyorRequest(robotId, index.value(), motor.value()),
      follow() {},
    },
    parts,
  );
}

function conveyorRequest(robotId: RobotId, index: number, motor: number): Draft {
  const command = motorCommands.get(motor);
  if (command === undefined) return { problem: "MotorCommand is 0, which is no command" };
  return {
    operation: "ControlConveyor",
    request: { robotId, commands: [{ index, command }] },
    missionId: null,
  };
}
