import { coded } from "../../domain/coded.ts";
import {
  type Conveyor,
  healthStateNames,
  installationStateNames,
  operationStateNames,
  payloadStateNames,
} from "../../domain/conveyor.ts";
import type { ConveyorState } from "../../wire/fleet/v1/cart/cart_pb.js";

/** One conveyor of a cart as it was sent. */
export function conveyorFromProto(state: ConveyorState): Conveyor {
  return {
    index: state.index,
    operation: coded(operationStateNames, state.operationState),
    payload: coded(payloadStateNames, state.payloadState),
    health: coded(healthStateNames, state.healthState),
    installation: coded(installationStateNames, state.installationState),
  };
}
