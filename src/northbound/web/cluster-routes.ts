import type { FastifyInstance } from "fastify";
import type { FenceControl, HandoverControl, HandoverRequest } from "../../contracts/cluster.ts";
import { sendProblem } from "./problem.ts";
import { readBody } from "./request-body.ts";
import { senderOfSocket } from "./sender.ts";

const NO_CLUSTER = "this gateway is no member of a cluster: there is nobody to hand over to";

/**
 * `POST /api/v1/handover` with `{"to"?,"drill"?}` lets the other member of the cluster lead: 202 when it has
 * begun, 409 with the reason if it cannot. The process ends when it is done. `GET` answers with its state. It
 * needs no right: every user who reaches the socket may end the process too.
 */
export function addHandoverRoutes(server: FastifyInstance, handover: HandoverControl | null): void {
  server.get("/api/v1/handover", async (_request, reply) =>
    handover === null ? sendProblem(reply, 409, NO_CLUSTER) : reply.send(handover.state()),
  );
  server.post("/api/v1/handover", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    if (handover === null) return sendProblem(reply, 409, NO_CLUSTER);
    const asked = readRequest(request.body);
    if (typeof asked === "string") return sendProblem(reply, 400, asked);
    const answer = handover.begin({ source, ...asked });
    if (!answer.ok) return sendProblem(reply, 409, answer.reason);
    const { id, from, to } = answer;
    return reply.code(202).send({ id, from, to });
  });
}

/** What a body asks for, or what is wrong with it. */
function readRequest(body: unknown): Omit<HandoverRequest, "source"> | string {
  const read = readBody(body, ["to", "drill"]);
  if (!read.ok) return read.reason;
  const { to = null, drill = false } = read.object;
  if (to !== null && typeof to !== "string") return "to: must be the name of a member";
  if (typeof drill !== "boolean") return "drill: must be true or false";
  return { to, isDrill: drill };
}

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
