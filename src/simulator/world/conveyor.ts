import type { Cancel } from "../../platform/clock.ts";
import { type ConveyorModel, conveyorModels } from "./spec.ts";

export type Motor = "stop" | "cw" | "ccw";

/** One conveyor of a cart. Indexes count from 1, so that an unset index names none. */
export interface Conveyor {
  readonly index: number;
  readonly installed: boolean;
  motor: Motor;
  loaded: boolean;
  healthy: boolean;
  transfer: Cancel | undefined;
}

export interface MotorCommand {
  readonly index: number;
  readonly motor: Motor;
}

/** The conveyors of a model, empty and at rest. */
export function createConveyors(model: ConveyorModel, notInstalled: readonly number[]): Conveyor[] {
  return Array.from({ length: conveyorModels[model] }, (_, position) => ({
    index: position + 1,
    installed: !notInstalled.includes(position + 1),
    motor: "stop" as const,
    loaded: false,
    healthy: true,
    transfer: undefined,
  }));
}

interface HasConveyors {
  readonly conveyors: readonly Conveyor[];
}

/** Indexes that can be commanded. */
export function installedIndexes(robot: HasConveyors): number[] {
  return robot.conveyors.filter((conveyor) => conveyor.installed).map((conveyor) => conveyor.index);
}

/** The conveyor of that index, if the cart has it. */
export function installedConveyor(robot: HasConveyors, index: number): Conveyor | undefined {
  return robot.conveyors.find((conveyor) => conveyor.installed && conveyor.index === index);
}
