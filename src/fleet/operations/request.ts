import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { StopRequest } from "../../contracts/fleet-port.ts";
import type { OpaqueRequest } from "../../contracts/operation.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Stop } from "../../domain/stops.ts";
import { type Method, methodOf } from "./row.ts";

/** A request of the catalogue as a message, with its operation. */
export class FleetRequest {
  readonly method: Method;
  readonly message: Message;

  constructor(method: Method, message: Message) {
    this.method = method;
    this.message = message;
  }
}

/** Wraps a request for its way through modules that do not know messages. */
export function sealRequest(method: Method, message: Message): OpaqueRequest {
  return new FleetRequest(method, message) as unknown as OpaqueRequest;
}

/** Unwraps a request that was sealed here; null for anything else. */
export function openRequest(request: OpaqueRequest): FleetRequest | null {
  return request instanceof FleetRequest ? request : null;
}

/** A sealed request of the gateway's own. */
export function requestOf<Request extends DescMessage>(
  desc: DescMethodUnary<Request>,
  fields: MessageInitShape<Request>,
): OpaqueRequest {
  return sealRequest(methodOf(desc), create(desc.input, fields));
}

/**
 * The request of the catalogue for a stop: UpdateMission, ControlConveyor or PauseRobot.
 */
export function stopRequest(robotId: RobotId, stop: Stop): StopRequest {
  switch (stop.kind) {
    case "pause_mission": {
      const missionCommand = { command: "COMMAND_PAUSE", missionId: stop.missionId };
      return { operation: "UpdateMission", request: { missionCommand, robotId } };
    }
    case "pause_chain":
      return { operation: "PauseRobot", request: { amrId: stop.amrId, stopNow: true } };
    case "stop_conveyors": {
      const commands = stop.indexes.map((index) => ({ command: "COMMAND_CONVEYOR_MOTOR_STOP", index }));
      return { operation: "ControlConveyor", request: { commands, robotId } };
    }
  }
}
