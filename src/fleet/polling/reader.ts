import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { GrpcCodeName } from "../../domain/errors.ts";
import { codeOfHttp, messageOfHttp } from "../calls/ending.ts";
import { httpShape } from "../calls/http-call.ts";
import type { Http } from "../http.ts";
import { methods } from "../operations/method.ts";
import type { FleetOptions } from "../options.ts";
import type { Session } from "../session/session.ts";

/** A read did not succeed. `code` says whether it is worth trying again soon. */
export class ReadFailed extends Error {
  override readonly name = "ReadFailed";
  readonly code: GrpcCodeName;

  constructor(code: GrpcCodeName, message: string, options?: ErrorOptions) {
    super(`${code}: ${message}`, options);
    this.code = code;
  }
}

/**
 * Reads an HTTP operation that has no effect, as the service's own JSON text: a roster
 * of 1,000 robots is too large to go through messages every two seconds. Rejects with
 * ReadFailed, also when the whole answer is not there within `pollTimeoutMs`.
 */
export type ReadOperation = (operation: string, request: JsonValue) => Promise<string>;

export interface ReaderParts {
  readonly http: Http;
  readonly session: Session;
  readonly signal: AbortSignal;
}

export function createReader(options: FleetOptions, { http, session, signal }: ReaderParts): ReadOperation {
  return async (operation, request) => {
    const method = methods.get(operation);
    if (method === undefined) throw new ReadFailed("UNIMPLEMENTED", `there is no operation ${operation}`);
    const jwt = await session.authorized(signal);
    if (jwt === null) throw new ReadFailed("CANCELLED", "the gateway stops");
    const { path, body } = httpShape(method, fromJson(method.desc.input, request));
    const answer = await http
      .send({
        verb: method.route.verb,
        url: `${options.httpsUrl}${path}`,
        headers: { authorization: `Bearer ${jwt}` },
        body,
        deadlineMs: options.times.pollTimeoutMs,
        signal,
        reads: true,
      })
      .catch((error: unknown) => {
        throw unanswered(error, options.times.pollTimeoutMs);
      });
    if (answer.status === 200) return answer.text;
    const code = codeOfHttp(answer.status, answer.headers);
    if (code === "UNAUTHENTICATED") await session.replace(jwt, signal);
    throw new ReadFailed(code, messageOfHttp(answer.status, answer.headers, answer.text));
  };
}

function unanswered(error: unknown, deadlineMs: number): ReadFailed {
  if (error instanceof Error && error.name === "TimeoutError") {
    return new ReadFailed("DEADLINE_EXCEEDED", `no answer within ${deadlineMs} ms`, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new ReadFailed("UNAVAILABLE", message, { cause: error });
}
