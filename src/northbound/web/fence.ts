import type { FastifyInstance } from "fastify";
import type { FenceControl } from "../../contracts/cluster.ts";
import { sendProblem } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { senderOfSocket } from "./sender.ts";

/**
 * `POST /api/v1/fence` with `{"member"}` says that this box is off: 200, and the other one takes over, though
 * its fence has failed. 403 without the role engineer, 409 with the reason if nothing waits for it.
 */
export function addFenceRoute(server: FastifyInstance, fence: FenceControl | null): void {
  server.post("/api/v1/fence", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    if (fence === null) return sendProblem(reply, 409, "this gateway is no member of a cluster");
    const read = readBody(request.body, ["member"]);
    if (!read.ok) return sendProblem(reply, 400, read.reason);
    const { member } = read.object;
    if (typeof member !== "string") return sendProblem(reply, 400, "member: must be the name of one");
    const answer = fence.confirm({ source, member });
    if (answer.ok) return reply.send({ member });
    return sendProblem(reply, answer.lacksRight ? 403 : 409, answer.reason);
  });
}
