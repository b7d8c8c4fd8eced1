import type { FastifyReply } from "fastify";
import { httpStatus, type Refusal } from "../refusal.ts";
import { statusHeaders } from "../status.ts";

/**
 * Answers with a refusal: the HTTP status of its code (or `status`), the two
 * gRPC headers, and `{"code","message"}` (docs/service.md, ERR-59).
 */
export function refuse(
  reply: FastifyReply,
  refusal: Refusal,
  status = httpStatus[refusal.code],
): FastifyReply {
  return reply
    .code(status)
    .headers(statusHeaders(refusal.code, refusal.message))
    .send({ code: refusal.code, message: refusal.message });
}
