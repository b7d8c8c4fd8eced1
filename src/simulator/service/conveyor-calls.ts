import {
  type ConveyorMotorCommand,
  ConveyorMotorCommand_CommandConveyorMotor as WireMotor,
} from "../../wire/fleet/v1/cart/cart_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { installedConveyor, installedIndexes, type Motor, type MotorCommand } from "../world/conveyor.ts";
import type { Robot } from "../world/robot.ts";
import { type CallHandler, type CallParts, handler } from "./calls.ts";
import { invalid } from "./mission-request.ts";

/** The conveyor operations of FleetService. */
export function conveyorCalls({ world, ownership, confirmation }: CallParts): readonly CallHandler[] {
  const { method } = FleetService;
  return [
    handler(method.getConveyorIndex, async ({ operation, caller }, { robotId }) => {
      const robot = ownership.robot(caller, robotId);
      checkCart(robot);
      return confirmation.answer(operation, robotId, () => ({ indexes: installedIndexes(robot) }));
    }),
    handler(method.controlConveyor, async ({ operation, caller, by }, { robotId, commands }) => {
      const motors = readMotors(commands);
      const robot = ownership.robot(caller, robotId);
      checkCart(robot);
      const missing = motors.find(({ index }) => installedConveyor(robot, index) === undefined);
      if (missing !== undefined) throw invalid(`conveyor ${missing.index} is not installed`);
      return confirmation.perform(operation, robot, () => {
        world.conveyors.command(robot, motors, by);
        return {};
      });
    }),
  ];
}

/** Throws INVALID_ARGUMENT for a robot of another family. */
export function checkCart(robot: Robot): void {
  if (robot.family !== "cart") throw invalid(`robot ${robot.id} is not of the cart family`);
}

function readMotors(commands: readonly ConveyorMotorCommand[]): readonly MotorCommand[] {
  if (commands.length === 0) throw invalid("commands: at least one command is required");
  const motors = commands.map(({ index, command }) => ({ index, motor: readMotor(command) }));
  if (new Set(motors.map(({ index }) => index)).size < motors.length) {
    throw invalid("commands: a conveyor is named twice");
  }
  return motors;
}

function readMotor(command: WireMotor): Motor {
  switch (command) {
    case WireMotor.STOP:
      return "stop";
    case WireMotor.CW:
      return "cw";
    case WireMotor.CCW:
      return "ccw";
    default:
      throw invalid(`commands: ${command} is not a motor command`);
  }
}
