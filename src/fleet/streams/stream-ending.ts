import type { GrpcCodeName } from "../../domain/errors.ts";

/** How a stream ended. `message` is the service's or grpc-js's own text. */
export interface StreamEnding {
  readonly code: GrpcCodeName;
  readonly message: string;
}

const refusals: ReadonlySet<GrpcCodeName> = new Set(["INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED"]);

/** Whether the service refuses what was asked for, rather than being unable to serve it. */
export function isRefusal(ending: StreamEnding): boolean {
  return refusals.has(ending.code);
}

/** Whether asking the same again soon is no use. */
export function isFutile(ending: StreamEnding): boolean {
  return isRefusal(ending) || ending.code === "UNIMPLEMENTED";
}
