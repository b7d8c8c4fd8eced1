import { type Battery, batteryStateNames, chargeMethodNames } from "../../domain/battery.ts";
import { coded } from "../../domain/coded.ts";
import type { BatteryState } from "../../wire/fleet/v1/battery_pb.js";

/** A battery as it was sent. */
export function batteryFromProto(state: BatteryState): Battery {
  return {
    chargePercent: state.chargePercent,
    state: coded(batteryStateNames, state.state),
    chargeMethod: coded(chargeMethodNames, state.chargeMethod),
  };
}
