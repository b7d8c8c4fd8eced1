import { type Message, toBinary } from "@bufbuild/protobuf";
import { type Client, type ServiceError, status } from "@grpc/grpc-js";
import type { CallEnding } from "../../contracts/fleet-port.ts";
import type { GrpcCodeName } from "../../domain/errors.ts";
import { asIs, authorization, isNoGrpc, withoutStack } from "../channels/grpc-js.ts";
import { errorText, serviceText } from "../error-text.ts";
import { okEndingOf } from "../operations/answer.ts";
import type { Method } from "../operations/row.ts";
import { codeName, unhappyEnding } from "./ending.ts";

/** Endings that grpc-js makes up after the service had answered: they prove no refusal. */
const madeUpHere: ReadonlySet<string> = new Set(["No message received", "Too many responses received"]);

/** How grpc-js ends the calls of a connection that is gone, or that it has given up itself. */
const DROPPED = "Connection dropped";

/** Whether a call has ended without a word of the service, which may not have received it yet. */
export function isUnanswered(ending: CallEnding): boolean {
  return ending.kind === "unknown" && (ending.code === "DEADLINE_EXCEEDED" || ending.message === DROPPED);
}

/** Sends one unary call on a READY connection, once. Never rejects. */
export function callGrpc(
  client: Client,
  serviceName: string,
  method: Method,
  request: Message,
  jwt: string,
  deadlineMs: number,
): Promise<CallEnding> {
  const { desc } = method;
  const bytes = Buffer.from(toBinary(desc.input, request));
  return new Promise((resolve) => {
    const begin = () =>
      client.makeUnaryRequest(
        `/${serviceName}/${method.name}`,
        asIs,
        asIs,
        bytes,
        authorization(jwt),
        { deadline: new Date(Date.now() + deadlineMs) },
        (error, answer) => {
          if (error !== null) {
            resolve(unhappyEnding(codeOf(error), serviceText(error.details)));
          } else resolve(readAnswer(method, answer ?? Buffer.alloc(0)));
        },
      );
    try {
      withoutStack(begin);
    } catch (error) {
      // The channel was closed in this very moment: it accepts no call, and nothing has left.
      resolve({ kind: "not_sent", message: errorText(error) });
    }
  });
}

/**
 * Only the service's own refusal proves that nothing was done. A token is refused before anything else is
 * looked at.
 */
function codeOf({ code, details }: ServiceError): GrpcCodeName {
  const isMadeUp = madeUpHere.has(details) || (isNoGrpc(details) && code !== status.UNAUTHENTICATED);
  return isMadeUp ? "UNKNOWN" : codeName(code ?? status.UNKNOWN);
}

async function readAnswer({ desc }: Method, bytes: Buffer): Promise<CallEnding> {
  try {
    return await okEndingOf(desc.output, bytes);
  } catch (error) {
    return { kind: "unknown", code: "DATA_LOSS", message: `the answer cannot be read: ${errorText(error)}` };
  }
}
