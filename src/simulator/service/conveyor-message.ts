import { create } from "@bufbuild/protobuf";
import {
  ConveyorState_HealthState,
  ConveyorState_InstallationState,
  ConveyorState_OperationState,
  ConveyorState_PayloadState,
} from "../../wire/fleet/v1/cart/cart_pb.js";
import {
  type SubscribeConveyorStatusResponse,
  SubscribeConveyorStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { Robot } from "../world/robot.ts";

/** All conveyors of a cart as they are now. Of one that is not installed nothing else is known. */
export function toConveyorMessage(robot: Robot): SubscribeConveyorStatusResponse {
  const states = robot.conveyors.map(({ index, installed, motor, loaded, healthy }) =>
    installed
      ? {
          index,
          operationState:
            motor === "stop" ? ConveyorState_OperationState.STOP : ConveyorState_OperationState.ROLLING,
          payloadState: loaded ? ConveyorState_PayloadState.LOADED : ConveyorState_PayloadState.EMPTY,
          healthState: healthy ? ConveyorState_HealthState.OK : ConveyorState_HealthState.ERROR,
          installationState: ConveyorState_InstallationState.INSTALLED,
        }
      : {
          index,
          operationState: ConveyorState_OperationState.STOP,
          payloadState: ConveyorState_PayloadState.UNKNOWN,
          healthState: ConveyorState_HealthState.UNKNOWN,
          installationState: ConveyorState_InstallationState.NOT_INSTALLED,
        },
  );
  return create(SubscribeConveyorStatusResponseSchema, { states });
}
