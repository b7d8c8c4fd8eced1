/** Who has to act when something goes wrong. */
export type ErrorClass =
  | "operator_mistake"
  | "fleet_unavailable"
  | "fleet_refused"
  | "link_lost"
  | "bad_input"
  | "our_bug";

/** The gRPC codes by number: ErrorId 0 to 16 and the `code` of an outcome (docs/commands.md, Codes). */
export const grpcCodeNames = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;
export type GrpcCodeName = (typeof grpcCodeNames)[number];

/**
 * The gateway's own errors: number, class, and what a sender should do. One
 * table for MQTT (`code` by name), OPC UA (`ErrorId` by number) and the
 * documentation.
 */
export const gatewayErrors = {
  MALFORMED: { id: 1000, class: "bad_input", advice: "Correct the request; it was never sent." },
  UNKNOWN_OPERATION: {
    id: 1001,
    class: "bad_input",
    advice: "Use one of the operations of docs/commands.md.",
  },
  IDENTITY_REUSED: {
    id: 1002,
    class: "bad_input",
    advice: "Give a different command a request id of its own.",
  },
  EXPIRED: {
    id: 1003,
    class: "operator_mistake",
    advice: "Send it again under a new id, with a later expiry, if it is still wanted.",
  },
  NO_EXPIRY: {
    id: 1004,
    class: "bad_input",
    advice: "Give expires_in_ms, expires_at or MQTT 5 message expiry; ExpiresAt where a method is called.",
  },
  RETAINED: { id: 1005, class: "bad_input", advice: "Publish commands without the retain flag." },
  NOT_ALLOWED: {
    id: 1006,
    class: "operator_mistake",
    advice: "Ask for the right in the gateway's configuration.",
  },
  ROBOT_NOT_GOOD: {
    id: 1007,
    class: "fleet_unavailable",
    advice: "Wait until the robot's quality is good, then send it under a new id.",
  },
  QUEUE_FULL: {
    id: 1008,
    class: "fleet_unavailable",
    // The second sentence is for a source that asks for a known command: under a new id it would be another
    // command.
    advice:
      "Wait for earlier commands to end. `refused`: then send it under a new id. `unknown`: ask again with the same id.",
  },
  FLEET_UNREACHABLE: {
    id: 1009,
    class: "fleet_unavailable",
    advice: "Nothing was sent; send it again later, under a new id.",
  },
  OUTCOME_UNKNOWN: {
    id: 1010,
    class: "fleet_unavailable",
    advice: "Look at the robot before you send anything again, under a new id: it may have acted.",
  },
  SHUTTING_DOWN: {
    id: 1011,
    class: "fleet_unavailable",
    advice:
      "`refused`: nothing was sent; send it again under a new id when the gateway is up. `unknown`: ask again with the same id then.",
  },
  OUT_OF_TURN: {
    id: 1012,
    class: "bad_input",
    advice: "Nothing was sent under the number; take a new one from NextId.",
  },
  SLOT_IN_USE: {
    id: 1013,
    class: "bad_input",
    advice: "Nothing was sent under the number; wait for DoneId, then take a new one from NextId.",
  },
  JOURNAL_FAILED: {
    id: 1014,
    class: "fleet_unavailable",
    advice:
      "Free or mend the gateway's disk, or run `fleetgate journal reset` where the message names it; then send it under a new id. Stops need no disk.",
  },
  CANCELED_BY_STOP: {
    id: 1015,
    class: "operator_mistake",
    advice: "A stop overtook it; it was never sent. If it is still wanted, send it under a new id.",
  },
  LEASE_HELD: {
    id: 1016,
    class: "operator_mistake",
    advice: "Wait until the station that leases the robot releases it, then send it under a new id.",
  },
  UNKNOWN_ROBOT: {
    id: 1017,
    class: "bad_input",
    advice: "Name a robot by an id that the gateway shows, under a new id of the command.",
  },
  NOT_AT_STATION: {
    id: 1018,
    class: "operator_mistake",
    advice: "Ask when the robot stands at, or heads for, a destination of the station.",
  },
  UNKNOWN_REQUEST: {
    id: 1019,
    class: "bad_input",
    advice: "Ask with the id of a command of your own; old records are not kept for ever.",
  },
  UNKNOWN_NUMBER: {
    id: 1020,
    class: "bad_input",
    advice: "Look at the robot: the slot cannot tell what became of the number.",
  },
  HELD: {
    id: 1021,
    class: "operator_mistake",
    advice: "Wait until each user that holds the robot has lifted the hold, then send it under a new id.",
  },
  RATE_LIMITED: {
    id: 1023,
    class: "operator_mistake",
    advice:
      "Send fewer commands a second. `refused`: then send it under a new id. `unknown`: ask again with the same id.",
  },
  NO_PERMIT: {
    id: 1024,
    class: "operator_mistake",
    advice:
      "Wait until the station's PLC permits robots (its tag Permit, with a heartbeat), then send it under a new id.",
  },
  MISSION_GOES_ON: {
    id: 1025,
    class: "operator_mistake",
    advice:
      "Send the robot to the station by navigate: that mission ends there, and the robot stands until it is sent on.",
  },
  USER_WITHOUT_NUMBER: {
    id: 1026,
    class: "operator_mistake",
    advice:
      "Nothing was sent under the number. Give each user of the slot a number (`opcua.users.<name>.number`), or wait for DoneId and take a new one from NextId.",
  },
  NO_LEASE: {
    id: 1027,
    class: "operator_mistake",
    advice:
      "Ask for the lease of the robot first (operation 50 of the station's slot), then send it under a new id. Stops need none.",
  },
  STANDBY: {
    id: 1028,
    class: "operator_mistake",
    advice:
      "This member has not sent it, and the one that leads may have it: send it there with the same id.",
  },
  INTERNAL_FAULT: { id: 1099, class: "our_bug", advice: "Report it, with the gateway's log." },
} as const satisfies Record<string, { id: number; class: ErrorClass; advice: string }>;

export type GatewayErrorName = keyof typeof gatewayErrors;

/** The name of an error: the service's gRPC code or one of ours. */
export type ErrorName = GrpcCodeName | GatewayErrorName;

/** The number of an error: 0 to 16 are the gRPC codes, 1000 and up are ours. */
export function errorId(name: ErrorName): number {
  return name in gatewayErrors
    ? gatewayErrors[name as GatewayErrorName].id
    : grpcCodeNames.indexOf(name as GrpcCodeName);
}

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
