import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { gunzipSync } from "node:zlib";
import { type CodeName, invalid, Refusal, statusHeaders } from "../refusal.ts";

/** The answering side of one call: messages, then a status. */
export interface Response {
  /** Sends the headers, unless they are sent: the caller sees that the call is accepted. */
  open(): void;
  /**
   * Sends one message. Messages of one turn of the loop leave together. Past the bound of unread bytes the
   * call is cut off, and further messages are ignored.
   */
  write(message: Uint8Array): void;
  /** Ends the call with a status, after all written messages. */
  end(code: CodeName, message: string): void;
  /** Cuts the call off with an HTTP/2 error code and no status. */
  reset(http2Code: number): void;
  isClosed(): boolean;
  /** Runs `task` once the call is over, for any reason; at once if it is already. */
  onClosed(task: () => void): void;
}

/** Options of an answer, independent of the method. */
export interface ResponseOptions {
  /** Bytes that may wait for a reader before it is cut off. */
  readonly maxUnreadBytes: number;
  /** While true nothing is sent, and the messages are lost: a fault. */
  isSilent(): boolean;
}

/** The value of `grpc-accept-encoding`. */
const acceptedEncodings = "identity,gzip";

const openingHeaders = {
  ":status": 200,
  "content-type": "application/grpc+proto",
  "grpc-accept-encoding": acceptedEncodings,
};

export function createResponse(stream: ServerHttp2Stream, options: ResponseOptions): Response {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let isFlushDue = false;
  let isOver = false;
  const closedTasks: Array<() => void> = [];

  const settle = () => {
    isOver = true;
    for (const task of closedTasks.splice(0)) task();
  };
  stream.once("close", settle);

  function flush(): void {
    isFlushDue = false;
    if (pending.length === 0 || stream.destroyed || stream.writableEnded) return;
    const [only] = pending;
    const bytes = pending.length === 1 && only !== undefined ? only : Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    stream.write(bytes);
  }

  function reset(http2Code: number): void {
    if (isOver) return;
    settle();
    pending = [];
    if (!stream.destroyed) stream.close(http2Code);
  }

  function open(): void {
    if (stream.headersSent || isOver || stream.destroyed) return;
    stream.respond(openingHeaders, { waitForTrailers: true });
  }

  return {
    open,
    write(message) {
      if (isOver || options.isSilent()) return;
      open();
      if (pendingBytes + stream.writableLength + message.length > options.maxUnreadBytes) {
        // Its buffers are full, so a status would never reach it: gRPC reads this code as RESOURCE_EXHAUSTED.
        reset(constants.NGHTTP2_ENHANCE_YOUR_CALM);
        return;
      }
      const framed = frame(message);
      pending.push(framed);
      pendingBytes += framed.length;
      if (isFlushDue) return;
      isFlushDue = true;
      setImmediate(flush);
    },
    end(code, message) {
      if (isOver || options.isSilent()) return;
      const status = statusHeaders(code, message);
      if (stream.headersSent) {
        flush();
        stream.once("wantTrailers", () => stream.sendTrailers(status));
        stream.end();
      } else if (!stream.destroyed) {
        stream.respond({ ...openingHeaders, ...status }, { endStream: true });
      }
      settle();
    },
    reset,
    isClosed: () => isOver,
    onClosed(task) {
      if (isOver) task();
      else closedTasks.push(task);
    },
  };
}

/** The implementation of one method: bytes in, bytes out. Throws or rejects with a Refusal. */
export type GrpcMethod =
  | {
      readonly kind: "unary";
      answer(request: Uint8Array, headers: IncomingHttpHeaders): Promise<Uint8Array>;
    }
  | {
      /** One request, then messages until the response is ended. */
      readonly kind: "stream";
      open(request: Uint8Array, headers: IncomingHttpHeaders, response: Response): Promise<void>;
    }
  | {
      /** An answer to each request, for as long as the caller asks. */
      readonly kind: "dialogue";
      answer(request: Uint8Array): Uint8Array;
    };

/** Methods by their path, `/package.Service/Method`. */
export type MethodTable = ReadonlyMap<string, GrpcMethod>;

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
    throw invalid("a message is compressed, and grpc-encoding does not say how");
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
      : invalid("a message is not gzip, though grpc-encoding says so");
  }
}
