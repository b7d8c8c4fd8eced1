import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { GrpcCodeName } from "../../domain/errors.ts";
import { createBackoff } from "../../platform/backoff.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { noTap, type RecorderTap } from "../../platform/recorder/recording.ts";
import { errorOfHttp, httpShape } from "../calls/service-call.ts";
import { errorText } from "../error-text.ts";
import { type Http, type HttpAnswer, retryAfterMs } from "../http.ts";
import { methods } from "../operations/row.ts";
import type { FleetOptions } from "../options.ts";
import type { Session } from "../session/session.ts";

/** Answers that are kept, with their requests: a roster is small, and a hundred task chains are. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

/** A read failed. `code` shows whether another try soon is worth it. */
export class ReadFailed extends Error {
  override readonly name = "ReadFailed";
  readonly code: GrpcCodeName;
  /** How long the service asks not to be asked again. */
  readonly retryAfterMs: number;

  constructor(code: GrpcCodeName, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(`${code}: ${message}`, options);
    this.code = code;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/**
 * Reads an HTTP operation that has no effect, as the service's own JSON in UTF-8. A list of 1,000 robots is
 * too large to become messages every two seconds, and is mostly the same as before: the answer is then the
 * same Buffer as before, which nobody may change. Rejects with ReadFailed, also if the answer is not complete
 * within `pollTimeoutMs`. If the token is refused, it asks once more with another.
 */
export type ReadOperation = (operation: string, request: JsonValue) => Promise<Buffer>;

export interface ReaderParts {
  readonly http: Http;
  readonly session: Session;
  readonly signal: AbortSignal;
  /** Records the answers; absent: they are not recorded. */
  readonly tap?: RecorderTap;
}

export function createReader(options: FleetOptions, parts: ReaderParts): ReadOperation {
  const { http, session, signal } = parts;
  const { pollTimeoutMs } = options.times;
  const keep = createLastAnswers(parts.tap ?? noTap);

  async function ask(verb: string, path: string, body: string | null, jwt: string): Promise<HttpAnswer> {
    return http
      .send({
        verb,
        url: `${options.httpsUrl}${path}`,
        headers: { authorization: `Bearer ${jwt}` },
        body,
        deadlineMs: pollTimeoutMs,
        signal,
        reads: true,
      })
      .catch((error: unknown) => {
        throw unanswered(error, pollTimeoutMs);
      });
  }

  return async (operation, request) => {
    const method = methods.get(operation);
    if (method === undefined) throw new ReadFailed("UNIMPLEMENTED", `there is no operation ${operation}`);
    const jwt = await session.authorized(signal);
    if (jwt === null) throw new ReadFailed("CANCELLED", "the gateway stops");
    const { path, body } = httpShape(method, fromJson(method.desc.input, request));
    let answer = await ask(method.route.verb, path, body, jwt);
    if (answer.status !== 200 && errorOfHttp(answer).code === "UNAUTHENTICATED") {
      const other = await session.replace(jwt, signal);
      if (other !== null) answer = await ask(method.route.verb, path, body, other);
    }
    if (answer.status === 200) return keep(operation, JSON.stringify(request), answer.parts);
    const { code, message } = errorOfHttp(answer);
    throw new ReadFailed(code, message, { retryAfterMs: retryAfterMs(answer.headers) ?? 0 });
  };
}

function unanswered(error: unknown, deadlineMs: number): ReadFailed {
  if (error instanceof Error && error.name === "TimeoutError") {
    return new ReadFailed("DEADLINE_EXCEEDED", `no answer within ${deadlineMs} ms`, { cause: error });
  }
  return new ReadFailed("UNAVAILABLE", errorText(error), { cause: error });
}

interface LastAnswer {
  readonly answer: Buffer;
  /** The recorder's segment that has it; null: none. */
  readonly segment: number | null;
}

/**
 * Joins the parts of an answer. An answer that is the same as the last one of its request is that Buffer. It
 * is recorded when it differs, and once for each segment, so that none is missing when older segments are
 * removed.
 */
function createLastAnswers(
  tap: RecorderTap,
): (operation: string, requestJson: string, parts: readonly Buffer[]) => Buffer {
  const last = new Map<string, LastAnswer>();
  let keptBytes = 0;

  function put(key: string, { answer, segment }: LastAnswer): void {
    keptBytes += key.length + answer.length;
    if (keptBytes > MOST_KEPT_BYTES) {
      last.clear();
      keptBytes = key.length + answer.length;
    }
    last.set(key, { answer, segment });
  }

  return (operation, requestJson, parts) => {
    const key = `${operation} ${requestJson}`;
    const before = last.get(key);
    const isSame = before !== undefined && hasParts(before.answer, parts);
    const answer = isSame ? before.answer : Buffer.concat(parts);
    const segment = tap.isOn ? tap.segment : null;
    if (isSame && before.segment === segment) return answer;
    if (tap.isOn) tap.write("read", { name: operation, first: Buffer.from(requestJson), second: answer });
    if (before !== undefined) keptBytes -= key.length + before.answer.length;
    put(key, { answer, segment });
    return answer;
  };
}

function hasParts(whole: Buffer, parts: readonly Buffer[]): boolean {
  let at = 0;
  for (const part of parts) {
    const end = at + part.length;
    if (end > whole.length || part.compare(whole, at, end) !== 0) return false;
    at = end;
  }
  return at === whole.length;
}

/** The state of a poll. */
export interface PollState {
  readonly turns: number;
  readonly failures: number;
  /** Why the last poll failed; null: it did not. */
  readonly problem: string | null;
}

export interface PollParts {
  readonly name: string;
  readonly periodMs: number;
  /** The period while the service does not have the operation, or puts it off for longer. */
  readonly unimplementedMs: number;
  readonly clock: Clock;
  readonly log: Log;
  turn(): Promise<void>;
  /**
   * Whether the last poll came before the values that it needs: the next ones follow soon, at growing
   * distances.
   */
  isEarly?(): boolean;
}

/** The first period of early polls. */
const EARLY_MS = 250;

/**
 * Polls again and again, one request at a time; a failure is counted, and logged if it differs from the one
 * before.
 */
export function createPoll(parts: PollParts): {
  state(): PollState;
  run(signal: AbortSignal): Promise<void>;
} {
  const { clock, log } = parts;
  const early = createBackoff({ baseMs: EARLY_MS, capMs: parts.periodMs }, () => 1);
  let turns = 0;
  let failures = 0;
  let problem: string | null = null;

  async function turn(signal: AbortSignal): Promise<number> {
    turns += 1;
    const startedAtMs = clock.monotonicMs();
    let putOffMs = 0;
    try {
      await parts.turn();
      if (problem !== null) log.info({ poll: parts.name }, "a poll succeeds again");
      problem = null;
    } catch (error) {
      // The gateway stops: that is no failure.
      if (signal.aborted) return 0;
      failures += 1;
      // The parser's error quotes the text.
      const message = errorText(error);
      if (problem !== message) log.warn({ poll: parts.name, problem: message }, "a poll failed");
      problem = message;
      if (error instanceof ReadFailed) {
        if (error.code === "UNIMPLEMENTED") return parts.unimplementedMs;
        putOffMs = Math.min(error.retryAfterMs, parts.unimplementedMs);
      }
    }
    return Math.max(putOffMs, distanceMs() - (clock.monotonicMs() - startedAtMs));
  }

  /** From the beginning of one poll to the next. */
  function distanceMs(): number {
    if (problem === null && parts.isEarly?.() === true) return early.nextMs();
    early.reset();
    return parts.periodMs;
  }

  return {
    state: () => ({ turns, failures, problem }),
    async run(signal) {
      while (!signal.aborted) {
        const delayMs = await turn(signal);
        await sleep(clock, delayMs, signal);
      }
    },
  };
}
