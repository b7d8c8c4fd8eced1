import type { GrpcCodeName } from "../domain/errors.ts";

/** Advice to the sender for each code of the service, for the table of docs/commands.md, Codes. */
export const serviceAdvice: Readonly<Record<GrpcCodeName, string>> = {
  OK: "Nothing: it is done, or probably done.",
  CANCELLED: "The call broke off: look at the robot before you repeat it under a new id.",
  UNKNOWN:
    "The service failed in a way that it does not name: look at the robot before you repeat it under a new id.",
  INVALID_ARGUMENT: "Refused: correct the request, under a new id.",
  DEADLINE_EXCEEDED: "No answer in time: look at the robot before you repeat it under a new id.",
  NOT_FOUND: "Refused: name a robot, mission, chain, map or webhook that exists, under a new id.",
  ALREADY_EXISTS: "The service has it already: look at the robot before you repeat it under a new id.",
  PERMISSION_DENIED: "Refused: ask the fleet's operator for the right, then send it under a new id.",
  RESOURCE_EXHAUSTED:
    "The service has too much to do: look at the robot, and repeat it later under a new id.",
  FAILED_PRECONDITION:
    "Refused because of what the robot does: look at it before you repeat it under a new id.",
  ABORTED: "The service gave up: look at the robot before you repeat it under a new id.",
  OUT_OF_RANGE:
    "The service does not say whether it acted: look at the robot, then correct it under a new id.",
  UNIMPLEMENTED: "Not done: this service does not have the operation.",
  INTERNAL: "The service failed: look at the robot before you repeat it under a new id.",
  UNAVAILABLE:
    "The connection or the service broke off: look at the robot before you repeat it under a new id.",
  DATA_LOSS: "The answer came damaged: look at the robot before you repeat it under a new id.",
  UNAUTHENTICATED: "Refused: see to the gateway's API key, then send it under a new id.",
};
