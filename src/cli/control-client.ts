import { connect } from "node:net";
import { createLineReader } from "../northbound/local/line-reader.ts";
import { isJsonObject, type JsonObject } from "../platform/json.ts";

/** The gateway cannot be talked to. `wasSent`: the line had left, so what became of it is not known. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly wasSent: boolean;

  constructor(message: string, wasSent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.wasSent = wasSent;
  }
}

const LONGEST_ANSWER_BYTES = 32_000_000;

/**
 * Sends one command over the gateway's socket. Resolves with the line of its outcome;
 * rejects with CallFailed.
 * @param onStage called with each line that comes before it
 */
export function callGateway(
  socketPath: string,
  line: JsonObject,
  onStage: (stage: JsonObject) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    let wasSent = false;
    const socket = connect({ path: socketPath });
    const fail = (message: string, cause?: Error) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      reject(new CallFailed(message, wasSent, cause === undefined ? {} : { cause }));
    };
    const onAbort = () => fail("interrupted; the command goes on");
    const hear = (bytes: Buffer) => {
      const message: unknown = JSON.parse(bytes.toString());
      if (!isJsonObject(message)) return fail("the gateway answered something that is no answer");
      if (!("outcome" in message)) return onStage(message);
      signal.removeEventListener("abort", onAbort);
      socket.end();
      resolve(message);
    };
    const reader = createLineReader(LONGEST_ANSWER_BYTES, hear, () => fail("the answer is too long"));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("connect", () => {
      wasSent = true;
      socket.write(`${JSON.stringify(line)}\n`);
    });
    socket.on("data", reader.push);
    socket.once("error", (error) => fail(connectProblem(socketPath, error), error));
    // After a resolve this says nothing more to anybody.
    socket.once("close", () => fail("the gateway closed the connection before it told the outcome"));
    if (signal.aborted) onAbort();
  });
}

function connectProblem(path: string, error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ECONNREFUSED") return `no gateway runs behind ${path}`;
  if (code === "EACCES") return `${path} is for the gateway's own user; try with sudo`;
  return `the connection to the gateway failed: ${error.message}`;
}
