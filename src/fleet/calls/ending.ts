import type { CallEnding } from "../../contracts/fleet-port.ts";
import { type GrpcCodeName, grpcCodeNames } from "../../domain/errors.ts";
import { serviceText } from "../error-text.ts";

/** The service's explicit refusals. No other code proves that nothing was done. */
const refusals: ReadonlySet<GrpcCodeName> = new Set([
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNIMPLEMENTED",
]);

/** The ending of a call without success. */
export function unhappyEnding(code: GrpcCodeName, message: string): CallEnding {
  return refusals.has(code) ? { kind: "refused", code, message } : { kind: "unknown", code, message };
}

/** The name of a code; an unknown number is UNKNOWN, as gRPC says. */
export function codeName(number: number): GrpcCodeName {
  return grpcCodeNames[number] ?? "UNKNOWN";
}

/** A longer body is no error of the service's, and is not read. */
const LONGEST_ERROR_BODY = 64 * 1024;

const codeOfStatus: ReadonlyMap<number, GrpcCodeName> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ABORTED"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [501, "UNIMPLEMENTED"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

/**
 * The code of an HTTP answer that is not 200 (docs/internals/service.md, ERR-59): the header
 * `grpc-status` if there is one, else the status, which a balancer may have
 * given. A status without a meaning here is UNKNOWN.
 */
export function codeOfHttp(status: number, headers: Readonly<Record<string, string>>): GrpcCodeName {
  const number = Number(headers["grpc-status"] ?? Number.NaN);
  if (Number.isInteger(number) && number > 0) return codeName(number);
  return codeOfStatus.get(status) ?? "UNKNOWN";
}

/**
 * The message of an HTTP answer that is not 200, without secrets: the header, which is percent-encoded, or
 * the body's message.
 */
export function messageOfHttp(
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): string {
  const header = headers["grpc-message"];
  if (header !== undefined) return serviceText(decodePercent(header));
  if (text.length > LONGEST_ERROR_BODY) return `HTTP ${status}`;
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && "message" in body)
      return serviceText(String(body.message));
  } catch {
    return `HTTP ${status}`;
  }
  return `HTTP ${status}`;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not every server encodes it; then it is the text itself.
    return text;
  }
}
