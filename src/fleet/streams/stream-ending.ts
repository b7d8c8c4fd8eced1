import type { GrpcCodeName } from "../../domain/errors.ts";

/** The ending of a stream. `message` is the service's or grpc-js's own text. */
export interface StreamEnding {
  readonly code: GrpcCodeName;
  readonly message: string;
}

const refusals: ReadonlySet<GrpcCodeName> = new Set(["INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED"]);

/** Whether the service refuses the request, and is not just unable to serve it. */
export function isRefusal(ending: StreamEnding): boolean {
  return refusals.has(ending.code);
}

/** Whether the same request would fail again soon. */
export function isFutile(ending: StreamEnding): boolean {
  return isRefusal(ending) || ending.code === "UNIMPLEMENTED";
}
