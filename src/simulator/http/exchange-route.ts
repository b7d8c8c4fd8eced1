import type { FastifyInstance } from "fastify";
import type { Exchange } from "../auth/exchange.ts";
import { Refusal } from "../refusal.ts";
import { refuse } from "./answer.ts";
import { parseBody } from "./request-json.ts";

/**
 * POST /authorizeApiAccess: an API key document in, a JWT as the bare body out (docs/service.md, END-24).
 */
export function addExchangeRoute(app: FastifyInstance, exchange: Exchange): void {
  app.post("/authorizeApiAccess", async (request, reply) => {
    const answer = await exchange.ask(readBody(request.body), request.ip);
    if ("token" in answer) return reply.type("text/plain").send(answer.token);
    return refuse(reply, new Refusal(answer.code, answer.message), answer.status);
  });
}

/** The parsed body. No JSON counts like any other body that is no API key document. */
function readBody(body: unknown): unknown {
  try {
    return parseBody(body);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
