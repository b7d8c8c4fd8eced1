import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../wire/grpc/health/v1/health_pb.js";
import { Refusal } from "../refusal.ts";
import type { GrpcMethod } from "./method.ts";

/**
 * grpc.health.v1.Health. A server that answers at all serves, so only the name is checked. Needs no token.
 */
export function healthMethods(serviceNames: readonly string[]): ReadonlyMap<string, GrpcMethod> {
  const known = new Set(["", ...serviceNames]);
  const answer = (status: ServingStatus) =>
    toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status }));
  return new Map<string, GrpcMethod>([
    [
      `/${Health.typeName}/${Health.method.check.name}`,
      {
        kind: "unary",
        async answer(request) {
          const service = askedFor(request);
          if (!known.has(service)) throw new Refusal("NOT_FOUND", `there is no service ${service}`);
          return answer(ServingStatus.SERVING);
        },
      },
    ],
    [
      `/${Health.typeName}/${Health.method.watch.name}`,
      {
        kind: "stream",
        async open(request, _headers, response) {
          const service = askedFor(request);
          response.write(answer(known.has(service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN));
        },
      },
    ],
  ]);
}

function askedFor(request: Uint8Array): string {
  try {
    return fromBinary(HealthCheckRequestSchema, request).service;
  } catch {
    throw new Refusal("INVALID_ARGUMENT", "the request is no HealthCheckRequest");
  }
}
