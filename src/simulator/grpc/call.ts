import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { type Clock, systemClock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { invalid, Refusal, toRefusal } from "../refusal.ts";
import {
  createFrameReader,
  type FrameReader,
  type GrpcMethod,
  type MethodTable,
  type Response,
} from "./response.ts";

export interface CallOptions {
  readonly methods: MethodTable;
  readonly maxMessageBytes: number;
  readonly log: Log;
}

/** The deadlines of callers run on the machine's clock, as at the callers. */
const deadlineClock: Clock = systemClock;

/** Reads one call, executes it and answers it. Never throws: every ending is a status. */
export function handleCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  response: Response,
  options: CallOptions,
): void {
  const path = String(headers[":path"]);
  const fail = (error: unknown) => {
    const refusal = toRefusal(error, (bug) =>
      options.log.error({ err: bug, path }, "a call failed by a bug"),
    );
    response.end(refusal.code, refusal.message);
    // Further bytes of the caller are read and dropped, so that it need not wait for us.
    stream.resume();
  };
  const method = options.methods.get(path);
  if (method === undefined) {
    fail(new Refusal("UNIMPLEMENTED", `there is no method ${path}`));
    return;
  }
  const timeoutMs = deadlineMs(headers["grpc-timeout"]);
  if (timeoutMs === "malformed") {
    fail(invalid("the header grpc-timeout is malformed"));
    return;
  }
  if (timeoutMs !== undefined) {
    const late = () => fail(new Refusal("DEADLINE_EXCEEDED", "the caller's deadline has passed"));
    response.onClosed(deadlineClock.after(timeoutMs, late));
  }
  const encoding = headers["grpc-encoding"];
  const reader = createFrameReader(
    options.maxMessageBytes,
    encoding === undefined ? encoding : String(encoding),
  );
  readMessages(stream, reader, method.kind === "dialogue", {
    message: (request) => answer(method, request, headers, response).catch(fail),
    end: (count) => {
      if (method.kind === "dialogue") response.end("OK", "");
      else if (count === 0) fail(invalid("the request holds no message"));
    },
    fail,
  });
}

async function answer(
  method: GrpcMethod,
  request: Uint8Array,
  headers: IncomingHttpHeaders,
  response: Response,
): Promise<void> {
  switch (method.kind) {
    case "unary":
      response.write(await method.answer(request, headers));
      response.end("OK", "");
      return;
    case "stream":
      await method.open(request, headers, response);
      return;
    case "dialogue":
      response.write(method.answer(request));
      return;
  }
}

interface MessageHandlers {
  message(request: Uint8Array): void;
  /** The caller has sent everything: `count` messages. */
  end(count: number): void;
  fail(error: unknown): void;
}

/**
 * Hands on each message as it comes. If only one may come, it is handed on when it is certain that nothing
 * follows it.
 */
function readMessages(
  stream: ServerHttp2Stream,
  reader: FrameReader,
  isDialogue: boolean,
  handlers: MessageHandlers,
): void {
  const held: Buffer[] = [];
  let count = 0;
  const onData = (chunk: Buffer) => {
    try {
      for (const message of reader.push(chunk)) {
        count += 1;
        if (isDialogue) handlers.message(message);
        else if (count === 1) held.push(message);
        else throw invalid("the request holds more than one message");
      }
    } catch (error) {
      stop();
      handlers.fail(error);
    }
  };
  const onEnd = () => {
    stop();
    if (stream.aborted) return;
    if (reader.isAmidMessage()) {
      handlers.fail(invalid("the request ends amid a message"));
      return;
    }
    for (const message of held) handlers.message(message);
    handlers.end(count);
  };
  const stop = () => {
    stream.off("data", onData);
    stream.off("end", onEnd);
  };
  stream.on("data", onData);
  stream.on("end", onEnd);
}

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** How long the caller waits; undefined: it does not say. */
function deadlineMs(header: string | string[] | undefined): number | "malformed" | undefined {
  if (header === undefined) return undefined;
  const [, amount, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  const factor = unitMs[unit ?? ""];
  return amount === undefined || factor === undefined ? "malformed" : Number(amount) * factor;
}
