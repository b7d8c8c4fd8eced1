import { gunzipSync } from "node:zlib";
import { Refusal } from "../refusal.ts";

const HEADER_BYTES = 5;

/** One message in gRPC's framing: a flag (not compressed), its length, its bytes. */
export function frame(payload: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(payload.length, 1);
  framed.set(payload, HEADER_BYTES);
  return framed;
}

/** Extracts the messages from the bytes of a request, however they were cut. */
export interface FrameReader {
  /**
   * The messages that `chunk` completes. Throws a Refusal for one that is too long, or cannot be
   * decompressed.
   */
  push(chunk: Buffer): readonly Buffer[];
  /** Whether the bytes so far end within a message. */
  isAmidMessage(): boolean;
}

/** The value of `grpc-accept-encoding`. */
export const acceptedEncodings = "identity,gzip";

/** @param encoding the request's `grpc-encoding`, if it has one */
export function createFrameReader(maxMessageBytes: number, encoding: string | undefined): FrameReader {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const messages: Buffer[] = [];
      while (rest.length >= HEADER_BYTES) {
        const isCompressed = rest.readUInt8(0) !== 0;
        if (isCompressed) checkEncoding(encoding);
        const length = rest.readUInt32BE(1);
        if (length > maxMessageBytes) {
          throw new Refusal(
            "RESOURCE_EXHAUSTED",
            `a message of ${length} bytes; at most ${maxMessageBytes} are taken`,
          );
        }
        if (rest.length < HEADER_BYTES + length) break;
        const message = rest.subarray(HEADER_BYTES, HEADER_BYTES + length);
        messages.push(isCompressed ? decompress(message, maxMessageBytes) : message);
        rest = rest.subarray(HEADER_BYTES + length);
      }
      return messages;
    },
    isAmidMessage: () => rest.length > 0,
  };
}

/** A compressed message needs an encoding. gRPC would answer INTERNAL, which means a bug of our own here. */
function checkEncoding(encoding: string | undefined): void {
  if (encoding === "gzip") return;
  if (encoding === undefined || encoding === "identity") {
    throw new Refusal("INVALID_ARGUMENT", "a message is compressed, and grpc-encoding does not say how");
  }
  throw new Refusal("UNIMPLEMENTED", `grpc-encoding ${encoding} is not supported: send ${acceptedEncodings}`);
}

/** A few bytes can become gigabytes, so it stops at the limit. */
function decompress(message: Buffer, maxMessageBytes: number): Buffer {
  try {
    return gunzipSync(message, { maxOutputLength: maxMessageBytes });
  } catch (error) {
    const isTooLong = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw isTooLong
      ? new Refusal("RESOURCE_EXHAUSTED", `a message of more than ${maxMessageBytes} bytes once decompressed`)
      : new Refusal("INVALID_ARGUMENT", "a message is not gzip, though grpc-encoding says so");
  }
}
