import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import type { ErrorName } from "../../domain/errors.ts";
import type { Outcome } from "../../domain/outcome.ts";

const PROBLEM_TYPE = "application/problem+json";

/** The status by the code of a request that never became a command. Any outcome of a command is 200. */
const statuses: Partial<Readonly<Record<ErrorName, number>>> = {
  MALFORMED: 400,
  NO_EXPIRY: 400,
  UNKNOWN_OPERATION: 400,
  NOT_ALLOWED: 403,
  IDENTITY_REUSED: 409,
  QUEUE_FULL: 429,
  RATE_LIMITED: 429,
  SHUTTING_DOWN: 503,
};

export function problemStatus(code: ErrorName): number | undefined {
  return statuses[code];
}

/** Answers with a problem of RFC 9457. `members` are further members of the body. */
export function sendProblem(
  reply: FastifyReply,
  status: number,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  return reply
    .code(status)
    .type(PROBLEM_TYPE)
    .send(problem(status, detail, members));
}

/** A problem for an answer that the framework does not make. */
export function problemOf(status: number, detail: string): { readonly type: string; readonly body: string } {
  return { type: PROBLEM_TYPE, body: problem(status, detail) };
}

/** A whole HTTP answer with a problem, for bytes that never became a request. */
export function problemAnswer(status: number, detail: string): string {
  const body = problem(status, detail);
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${PROBLEM_TYPE}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  );
}

/** Answers with a refusal. `retry_safe` is false if sending the request again can move something twice. */
export function sendRefusal(reply: FastifyReply, status: number, refused: Outcome): FastifyReply {
  const { outcome, code, message, retrySafe } = refused;
  return sendProblem(reply, status, message, { outcome, code, retry_safe: retrySafe });
}

function problem(status: number, detail: string, members: Readonly<Record<string, unknown>> = {}): string {
  const title = STATUS_CODES[status] ?? "Error";
  return JSON.stringify({ type: "about:blank", title, status, detail, ...members });
}
