import type { FastifyInstance } from "fastify";
import type { Metrics } from "./metrics.ts";

/** `GET /metrics`, for Prometheus. */
export function addMetricsRoute(server: FastifyInstance, { contentType, text }: Metrics): void {
  server.get("/metrics", async (_request, reply) => reply.type(contentType).send(await text()));
}
