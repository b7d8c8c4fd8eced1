import type { FastifyInstance } from "fastify";
import type { Clock } from "../../platform/clock.ts";
import { type StatusFacts, statusReport } from "./status-report.ts";

export interface StatusRouteParts {
  readonly statusFacts: () => StatusFacts;
  readonly clock: Clock;
}

/** `GET /api/v1/status` answers 200 with all that a person asks first, even if everything is down. */
export function addStatusRoute(server: FastifyInstance, { statusFacts, clock }: StatusRouteParts): void {
  server.get("/api/v1/status", async (_request, reply) =>
    reply.send(statusReport(statusFacts(), clock.nowMs())),
  );
}
