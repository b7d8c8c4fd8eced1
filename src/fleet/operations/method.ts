import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { type Route, route } from "../../wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";

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
