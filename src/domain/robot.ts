import type { Coded } from "./coded.ts";

/** The service's `robot_id`: any text. */
export type RobotId = string;

/** What the gateway knows of a robot's kind. Only carts have conveyors. */
export type Family = "cart" | "serve" | "base" | "unknown";

/**
 * One robot of GetOnlineRobots. `info` is the OnlineAMRInfo in the form that is published: snake_case, every
 * scalar present, unset messages null.
 */
export interface Presence {
  /** The robot's number, by which task chains name it. */
  readonly amrId: number;
  readonly mapId: number;
  /** The code of the point that the robot is at. */
  readonly position: string;
  readonly stateId: string;
  readonly taskChainId: number;
  readonly info: Readonly<Record<string, unknown>>;
}

/**
 * Where the robot is on its map; null if the record has no coordinate.
 */
export function coordinateOf({ info }: Presence, name: "x" | "y" | "theta"): number | null {
  const { coordinate } = info;
  if (typeof coordinate !== "object" || coordinate === null) return null;
  const value: unknown = Reflect.get(coordinate, name);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** BatteryState.State by number (proto/fleet/v1/battery.proto). */
export const batteryStateNames = [
  "STATE_UNKNOWN",
  "STATE_CHARGING",
  "STATE_DISCHARGING",
  "STATE_FULL",
] as const;
export type BatteryStateName = (typeof batteryStateNames)[number];

/** BatteryState.ChargeMethod by number. */
export const chargeMethodNames = [
  "CHARGE_METHOD_UNKNOWN",
  "CHARGE_METHOD_NONE",
  "CHARGE_METHOD_WIRED",
  "CHARGE_METHOD_CONTACT",
] as const;
type ChargeMethodName = (typeof chargeMethodNames)[number];

/** A robot's battery. */
export interface Battery {
  readonly chargePercent: number;
  readonly state: Coded<BatteryStateName>;
  readonly chargeMethod: Coded<ChargeMethodName>;
}

/** The four enums of ConveyorState by number (proto/fleet/v1/cart/cart.proto). */
export const operationStateNames = [
  "OPERATION_STATE_UNKNOWN",
  "OPERATION_STATE_ROLLING",
  "OPERATION_STATE_STOP",
] as const;
export const payloadStateNames = [
  "PAYLOAD_STATE_UNKNOWN",
  "PAYLOAD_STATE_LOADED",
  "PAYLOAD_STATE_EMPTY",
] as const;
export const healthStateNames = ["HEALTH_STATE_UNKNOWN", "HEALTH_STATE_OK", "HEALTH_STATE_ERROR"] as const;
export const installationStateNames = [
  "INSTALLATION_STATE_UNKNOWN",
  "INSTALLATION_STATE_INSTALLED",
  "INSTALLATION_STATE_NOT_INSTALLED",
] as const;

/**
 * One conveyor of a cart. The index is a logical position: the lowest is the uppermost or the front conveyor.
 */
export interface Conveyor {
  readonly index: number;
  readonly operation: Coded<(typeof operationStateNames)[number]>;
  readonly payload: Coded<(typeof payloadStateNames)[number]>;
  readonly health: Coded<(typeof healthStateNames)[number]>;
  readonly installation: Coded<(typeof installationStateNames)[number]>;
}
