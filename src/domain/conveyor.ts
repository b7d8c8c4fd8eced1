import type { Coded } from "./coded.ts";

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
