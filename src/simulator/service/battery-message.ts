import { create } from "@bufbuild/protobuf";
import {
  type BatteryEventState,
  BatteryEventStateSchema,
  BatteryState_ChargeMethod,
  BatteryState_State,
} from "../../wire/fleet/v1/battery_pb.js";
import type { EventMetadata } from "../../wire/fleet/v1/common_pb.js";
import {
  type SubscribeBatteryStatusResponse,
  SubscribeBatteryStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { Battery, Robot } from "../world/robot.ts";

const states: Readonly<Record<Battery["state"], BatteryState_State>> = {
  charging: BatteryState_State.CHARGING,
  discharging: BatteryState_State.DISCHARGING,
  full: BatteryState_State.FULL,
};

const methods: Readonly<Record<Battery["method"], BatteryState_ChargeMethod>> = {
  none: BatteryState_ChargeMethod.NONE,
  wired: BatteryState_ChargeMethod.WIRED,
  contact: BatteryState_ChargeMethod.CONTACT,
};

/** A robot's battery message as it is now. */
export function toBatteryMessage(robot: Robot, metadata: EventMetadata): SubscribeBatteryStatusResponse {
  const { shownPercent, state, method } = robot.battery;
  const batteryState = { chargePercent: shownPercent, state: states[state], chargeMethod: methods[method] };
  return create(SubscribeBatteryStatusResponseSchema, { metadata, robotId: robot.id, batteryState });
}

/** The webhook event of a battery message: the same content. */
export function toBatteryEvent({
  metadata,
  batteryState,
}: SubscribeBatteryStatusResponse): BatteryEventState {
  const event = create(BatteryEventStateSchema);
  if (metadata !== undefined) event.metadata = metadata;
  if (batteryState !== undefined) event.batteryState = batteryState;
  return event;
}
