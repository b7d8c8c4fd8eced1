import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { type Route, route } from "../../wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";

/** Operations that change nothing, anywhere. */
const reads: ReadonlySet<string> = new Set([
  "GetConveyorIndex",
  "ListWebhooks",
  "QueryTaskChain",
  "GetOnlineRobots",
  "GetMap",
]);

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

/** All 21, by name: 11 of gRPC and 10 of HTTP. */
export const methods: ReadonlyMap<string, Method> = new Map(
  [...unaryMethods(FleetService, true), ...unaryMethods(TaskService, false)].map((method) => [
    method.name,
    method,
  ]),
);

function unaryMethods(service: DescService, hasGrpc: boolean): Method[] {
  const found: Method[] = [];
  for (const desc of service.methods) {
    if (desc.methodKind !== "unary") continue;
    const { name } = desc;
    found.push({ name, desc, route: getOption(desc, route), hasGrpc, reads: reads.has(name) });
  }
  return found;
}
