import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { CodeName } from "../refusal.ts";
import { statusHeaders } from "../status.ts";
import { acceptedEncodings, frame } from "./frame.ts";

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
