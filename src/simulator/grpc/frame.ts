import { Refusal } from "../refusal.ts";

const HEADER_BYTES = 5;

/** One message as gRPC sends it: a flag (not compressed), its length, its bytes. */
export function frame(payload: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(payload.length, 1);
  framed.set(payload, HEADER_BYTES);
  return framed;
}

/** Takes the messages out of the bytes of a request, however they were cut. */
export interface FrameReader {
  /** The messages that `chunk` completes. Throws a Refusal for one that is too long or compressed. */
  push(chunk: Buffer): readonly Buffer[];
  /** Whether the bytes so far end amid a message. */
  isAmidMessage(): boolean;
}

export function createFrameReader(maxMessageBytes: number): FrameReader {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const messages: Buffer[] = [];
      while (rest.length >= HEADER_BYTES) {
        if (rest.readUInt8(0) !== 0) {
          throw new Refusal(
            "UNIMPLEMENTED",
            "compressed messages are not supported: send grpc-encoding identity",
          );
        }
        const length = rest.readUInt32BE(1);
        if (length > maxMessageBytes) {
          throw new Refusal(
            "RESOURCE_EXHAUSTED",
            `a message of ${length} bytes; at most ${maxMessageBytes} are taken`,
          );
        }
        if (rest.length < HEADER_BYTES + length) break;
        messages.push(rest.subarray(HEADER_BYTES, HEADER_BYTES + length));
        rest = rest.subarray(HEADER_BYTES + length);
      }
      return messages;
    },
    isAmidMessage: () => rest.length > 0,
  };
}
