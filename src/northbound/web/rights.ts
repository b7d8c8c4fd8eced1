import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Commander } from "../../contracts/commander.ts";
import { sourceKey } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import type { Check, Rights } from "./api/session.ts";
import type { WebCommands } from "./commands.ts";
import { sendProblem, sendRefusal } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { textIn } from "./resources/list-page.ts";
import type { SenderOf } from "./sender.ts";

interface RightsRouteParts extends Pick<WebCommands, "commander" | "rights" | "catalogue"> {
  readonly senderOf: SenderOf;
  /** Why no robot may be moved from this address; null: it may. */
  readonly refusedMoves: (address: string) => string | null;
}

const BODY_BYTES = 256 * 1024;
/** A check is no command: its id has no meaning. */
const CHECK_ID = "check";

/**
 * `GET /api/v1/rights?robot=` answers with the sender's rights. `POST /api/v1/check` answers with the result
 * that a command would have now, and sends nothing.
 */
export function addRightsRoutes(
  server: FastifyInstance,
  { rights, catalogue, commander, senderOf, refusedMoves }: RightsRouteParts,
): void {
  server.get<{ Querystring: Readonly<Record<string, unknown>> }>("/api/v1/rights", async (request, reply) => {
    const [source, wrongSender] = senderOf(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    const robotId = textIn(request.query, "robot");
    const answer: Rights = {
      user: sourceKey(source),
      robot: robotId === null ? null : rights.refusedRobot(source, robotId),
      moves: refusedMoves(addressOf(request)),
      lift: robotId === null ? null : rights.refusedLift(source, robotId),
      lift_all: rights.refusedLift(source, null),
      operations: [...catalogue.values()].map(({ name, role }) => ({
        name,
        refused: rights.refusedOperation(source, name, role),
      })),
    };
    return reply.send(answer);
  });

  server.post("/api/v1/check", { bodyLimit: BODY_BYTES }, async (request, reply) => {
    const [source, wrongSender] = senderOf(request);
    const read = readBody(request.body, ["operation", "request"]);
    const malformed = wrongSender ?? (read.ok ? null : read.reason);
    if (malformed !== null || !read.ok) return sendRefusal(reply, 400, refusal("MALFORMED", `${malformed}`));
    const { operation, request: json } = read.object;
    if (typeof operation !== "string") return sendProblem(reply, 400, "operation: must be the name of one");
    const outcome = await commander.check({
      source,
      requestId: CHECK_ID,
      scope: CHECK_ID,
      operation,
      request: { json },
      origin: { address: addressOf(request) },
    });
    return reply.send(checkJson(outcome, commander.read(operation, json)));
  });
}

function addressOf({ raw }: FastifyRequest): string {
  return raw.socket.remoteAddress ?? "";
}

function checkJson({ outcome, code, message }: Outcome, read: ReturnType<Commander["read"]>): Check {
  const parsed = "effect" in read ? read : null;
  return {
    outcome: outcome === "checked" ? "checked" : "refused",
    code,
    message,
    effect: parsed?.effect ?? null,
    robot_id: parsed?.robotId ?? null,
  };
}
