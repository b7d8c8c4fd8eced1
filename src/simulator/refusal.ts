import type { OutgoingHttpHeaders } from "node:http2";
import { messageOf } from "../platform/error-text.ts";

/** gRPC status codes by name. */
export const codes = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type CodeName = keyof typeof codes;

/** HTTP status of each code (docs/internals/service.md, Where the interface leaves a choice). */
export const httpStatus: Readonly<Record<CodeName, number>> = {
  OK: 200,
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
};

/** The message is also sent in a header, and HTTP/2 bounds headers: a longer one would not arrive. */
const LONGEST_MESSAGE = 2_048;

/**
 * The answer of the service to a request that it refuses, the same over every transport. A long message ends
 * in an ellipsis.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: CodeName;

  constructor(code: CodeName, message: string) {
    super(message.length <= LONGEST_MESSAGE ? message : `${beginningOf(message)}…`);
    this.code = code;
  }
}

/** The refusal of a request whose form is wrong. */
export function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", message);
}

/** What `read` makes of a request; a Refusal with the reason if it is no such message. */
export function readRequest<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw invalid(`the request is no ${name}: ${messageOf(error)}`);
  }
}

/** Half a surrogate pair is no character, and cannot be encoded. */
function beginningOf(message: string): string {
  return message.slice(0, LONGEST_MESSAGE).replace(/[\ud800-\udbff]$/, "");
}

/** The two headers (or trailers) with the ending of a call. The message is percent-encoded. */
export function statusHeaders(code: CodeName, message: string): OutgoingHttpHeaders {
  const status = { "grpc-status": String(codes[code]) };
  return message === "" ? status : { ...status, "grpc-message": encodeMessage(message) };
}

/** Printable ASCII as it is, everything else and `%` as %XX of its UTF-8 bytes (gRPC over HTTP/2). */
function encodeMessage(message: string): string {
  let encoded = "";
  for (const byte of Buffer.from(message, "utf8")) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** The one converter of errors of an operation: anything but a Refusal is a bug of ours, INTERNAL. */
export function toRefusal(error: unknown, onBug: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  onBug(error);
  return new Refusal("INTERNAL", "the service failed; its log says why");
}
