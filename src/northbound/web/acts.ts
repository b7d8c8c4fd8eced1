import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Acts } from "../../contracts/acts.ts";
import type { ActName } from "../../domain/acts.ts";
import { refusal } from "../../domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { problemStatus, sendRefusal } from "./problem.ts";
import { type ReadJson, readJsonBody } from "./request-body.ts";
import { originOf, type SenderOf } from "./sender.ts";

interface RobotRoute {
  readonly Params: { readonly robot: string };
}

interface AlarmRoute {
  readonly Params: { readonly id: string };
}

/**
 * `PUT /api/v1/hold` and `/api/v1/robots/{robot}/hold` with `{"hold":true|false,"user"?}` answer 200 with the
 * holders. `DELETE /api/v1/robots/{robot}/lease` answers 200 with the lease that it ended. `PUT
 * /api/v1/alarms/{id}/acknowledgement` with `{"comment"?}` or without a body answers 200 with the user that
 * has acknowledged it, and `PUT /api/v1/alarms/{id}/comment` with `{"comment"}` with the user that has said
 * it, both with a message if that is not on the disk yet. Each may be repeated. A refusal is problem+json.
 */
export function addActRoutes(server: FastifyInstance, acts: Acts, senderOf: SenderOf): void {
  async function take(
    name: ActName,
    request: FastifyRequest,
    reply: FastifyReply,
    inPath: JsonObject,
    body: ReadJson = { ok: true, value: {} },
  ): Promise<FastifyReply> {
    const [source, wrongSender] = senderOf(request);
    const reason = wrongSender ?? (body.ok ? repeated(inPath, body.value) : body.reason);
    const outcome = await acts.answer(name, {
      source,
      ...originOf(request),
      fields: body.ok && isJsonObject(body.value) ? { ...body.value, ...inPath } : null,
      refused: reason === null ? null : refusal("MALFORMED", reason),
    });
    const { code, responseJson, message } = outcome;
    if (outcome.outcome === "refused") {
      // These name their robot or alarm by the address: one that does not exist is not found.
      const isMissing = code === "UNKNOWN_ROBOT" || (reason === null && message.startsWith("alarm_id: "));
      return sendRefusal(reply, isMissing ? 404 : (problemStatus(code) ?? 409), outcome);
    }
    const answer: unknown = JSON.parse(responseJson ?? "{}");
    const ofAlarm = inPath.alarm_id === undefined ? {} : { id: inPath.alarm_id, message };
    const ofHold = message === "" ? {} : { message };
    return reply.send({ ...(isJsonObject(answer) ? answer : {}), ...ofAlarm, ...ofHold });
  }

  server.put("/api/v1/hold", (request, reply) =>
    take("HoldAll", request, reply, {}, readJsonBody(request.body)),
  );
  server.put<RobotRoute>("/api/v1/robots/:robot/hold", (request, reply) =>
    take("Hold", request, reply, { robot_id: request.params.robot }, readJsonBody(request.body)),
  );
  server.delete<RobotRoute>("/api/v1/robots/:robot/lease", (request, reply) =>
    take("OverrideLease", request, reply, { robot_id: request.params.robot }),
  );
  server.put<AlarmRoute>("/api/v1/alarms/:id/acknowledgement", (request, reply) =>
    take("AcknowledgeAlarm", request, reply, { alarm_id: request.params.id }, optionalBody(request.body)),
  );
  server.put<AlarmRoute>("/api/v1/alarms/:id/comment", (request, reply) =>
    take("CommentAlarm", request, reply, { alarm_id: request.params.id }, readJsonBody(request.body)),
  );
}

/** An acknowledgement without a body has no comment. */
function optionalBody(body: unknown): ReadJson {
  const isEmpty = body === undefined || (Buffer.isBuffer(body) && body.length === 0);
  return isEmpty ? { ok: true, value: {} } : readJsonBody(body);
}

/** What is wrong with a body that has a field of the address; null: it has none. */
function repeated(inPath: JsonObject, body: unknown): string | null {
  if (!isJsonObject(body)) return "the body must be a JSON object";
  const field = Object.keys(inPath).find((name) => Object.hasOwn(body, name));
  return field === undefined ? null : `${field}: is in the address already`;
}
