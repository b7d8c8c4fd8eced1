import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  getOption,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { StopRequest } from "../../contracts/fleet-port.ts";
import type {
  Destination,
  EvidenceRule,
  OpaqueRequest,
  ParsedRequest,
  RepeatRule,
  Subject,
} from "../../contracts/operation.ts";
import type { DescribedOperation } from "../../contracts/operation-manual.ts";
import type { Effect, Role } from "../../domain/command.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Stop } from "../../domain/stops.ts";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { type Route, route } from "../../wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";

/**
 * What one request of an operation does, and what may be known of it afterwards (docs/commands.md,
 * Operations).
 */
export interface Evaluation {
  readonly effect: Effect;
  readonly subject: Subject;
  readonly repeat: RepeatRule;
  readonly evidence: EvidenceRule;
  readonly identityField?: readonly string[];
  readonly conveyors?: ParsedRequest["conveyors"];
  readonly switches?: ParsedRequest["switches"];
  readonly destination?: Destination;
}

/** All of an operation that its descriptor does not say. */
export interface Row<Request = Message> {
  readonly role: Role;
  /** What it does, as one sentence. */
  readonly summary: string;
  readonly german: DescribedOperation["german"];
  /** Fields, by their proto names, without which a request has no meaning. */
  readonly required?: readonly string[];
  /** Paths (camelCase) of maps whose values are secrets. */
  readonly secretMaps?: readonly (readonly string[])[];
  /** Requests to copy, by their titles: one for each kind of effect. */
  readonly examples: Readonly<Record<string, object>>;
  evaluate(request: Request): Evaluation;
}

/** The descriptor of an operation, and its row. */
export type OperationRow = readonly [DescMethodUnary, Row];

/** A row whose evaluation is typed by the request. */
export function operation<Request extends DescMessage>(
  desc: DescMethodUnary<Request>,
  row: Row<MessageShape<Request>>,
): OperationRow {
  return [desc, row as Row];
}

export const never: RepeatRule = { kind: "never" };
export const noEvidence: EvidenceRule = { kind: "none" };
export const fleetSubject: Subject = { kind: "fleet" };

type AlreadyDone = Extract<RepeatRule, { kind: "repeatable" }>["alreadyDone"];

/** Repeatable within its expiry; these refusals of a repetition mean that it was done already. */
export function repeatable(...alreadyDone: AlreadyDone): RepeatRule {
  return { kind: "repeatable", until: "expiry", alreadyDone };
}

/** Repeatable also beyond its expiry, once it has left. */
export function repeatableLate(...alreadyDone: AlreadyDone): RepeatRule {
  return { kind: "repeatable", until: "evidence", alreadyDone };
}

/** The evaluation of every read: no effect, so free to be repeated. */
export function reading(subject: Subject = fleetSubject): Evaluation {
  return { effect: "reads", subject, repeat: repeatable(), evidence: noEvidence };
}

/** A unary operation of the fleet service, as its descriptor has it. */
export interface Method {
  readonly name: string;
  readonly desc: DescMethod;
  readonly route: Route;
  /** Of the gRPC service; the other operations travel over HTTPS only. */
  readonly hasGrpc: boolean;
  /** It changes nothing. */
  readonly reads: boolean;
}

/** All, by name: those of gRPC and those of HTTP alone. */
export const methods: ReadonlyMap<string, Method> = new Map(
  [...unaryMethods(FleetService, true), ...unaryMethods(TaskService, false)].map((each) => [each.name, each]),
);

/** The operation of this descriptor. Throws if the service has none such. */
export function methodOf({ name }: DescMethod): Method {
  const method = methods.get(name);
  if (method === undefined) throw new Error(`${name} is in no service`);
  return method;
}

function unaryMethods(service: DescService, hasGrpc: boolean): Method[] {
  const found: Method[] = [];
  for (const desc of service.methods) {
    if (desc.methodKind !== "unary") continue;
    const reads = desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
    found.push({ name: desc.name, desc, route: getOption(desc, route), hasGrpc, reads });
  }
  return found;
}

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
