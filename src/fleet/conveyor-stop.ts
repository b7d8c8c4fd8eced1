import type { RobotId } from "../domain/robot.ts";

/** The request of the catalogue that stops these conveyors of a cart, for whoever must not know operations. */
export function conveyorStop(
  robotId: RobotId,
  indexes: readonly number[],
): { readonly operation: string; readonly requestJson: string } {
  const commands = indexes.map((index) => ({ index, command: "COMMAND_CONVEYOR_MOTOR_STOP" }));
  return { operation: "ControlConveyor", requestJson: JSON.stringify({ robotId, commands }) };
}
