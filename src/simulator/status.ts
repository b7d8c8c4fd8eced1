import type { OutgoingHttpHeaders } from "node:http2";
import { type CodeName, codes, Refusal } from "./refusal.ts";

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
