import type { FastifyInstance } from "fastify";
import type { ReloadConfiguration } from "../../contracts/reload.ts";
import { holderName } from "../../domain/hold.ts";
import { sendProblem } from "./problem.ts";
import { senderOfSocket } from "./sender.ts";

export interface ReloadRouteParts {
  readonly reload: ReloadConfiguration;
}

/**
 * `POST /api/v1/reload` reads the configuration again. 200 with the applied keys; 409 if it was refused, and
 * nothing has changed. It needs no right: every user who reaches the socket may signal the process too.
 */
export function addReloadRoute(server: FastifyInstance, { reload }: ReloadRouteParts): void {
  server.post("/api/v1/reload", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    const result = await reload(holderName(source));
    return reply.code(result.refused.length === 0 ? 200 : 409).send(result);
  });
}
