import type { GrpcCodeName } from "../domain/errors.ts";

/** Advice to the sender for each code of the service, for the table of docs/commands.md, Codes. */
export const serviceAdvice: Readonly<Record<GrpcCodeName, string>> = {
  OK: "Nothing: it is done, or probably done.",
  CANCELLED: "The call was broken off: look at the robot before you send anything again, under a new id.",
  UNKNOWN:
    "The service failed in a way that it does not name: look at the robot before you send anything again, under a new id.",
  INVALID_ARGUMENT: "Correct the request, and send it under a new id; the service refused it.",
  DEADLINE_EXCEEDED: "No answer in time: look at the robot before you send anything again, under a new id.",
  NOT_FOUND:
    "Name a robot, mission, chain, map or webhook that there is, under a new id; the service refused it.",
  ALREADY_EXISTS: "The service has it already: look before you send anything again, under a new id.",
  PERMISSION_DENIED:
    "Ask the fleet's operator for the right to this robot or operation, then send it under a new id; the service refused it.",
  RESOURCE_EXHAUSTED:
    "The service has too much to do: look at the robot, then send it later and more rarely, under a new id.",
  FAILED_PRECONDITION:
    "Look at what the robot does now, then send it under a new id; the service refused it because of that.",
  ABORTED: "The service gave up: look at the robot before you send anything again, under a new id.",
  OUT_OF_RANGE:
    "The service does not say whether it acted: look at the robot, then correct the request, and send it under a new id.",
  UNIMPLEMENTED: "This service does not have the operation; it was not done.",
  INTERNAL: "The service failed: look at the robot before you send anything again, under a new id.",
  UNAVAILABLE:
    "The connection or the service was lost: look at the robot before you send anything again, under a new id.",
  DATA_LOSS: "The answer was damaged: look at the robot before you send anything again, under a new id.",
  UNAUTHENTICATED: "See to the gateway's API key, then send it under a new id; the service refused it.",
};
