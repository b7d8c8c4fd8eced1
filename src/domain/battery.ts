import type { Coded } from "./coded.ts";

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
export type ChargeMethodName = (typeof chargeMethodNames)[number];

/** A robot's battery. */
export interface Battery {
  readonly chargePercent: number;
  readonly state: Coded<BatteryStateName>;
  readonly chargeMethod: Coded<ChargeMethodName>;
}
