import type { FastifyInstance } from "fastify";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import { publishedHealth } from "../../../platform/published-health.ts";
import type { Connection, Health as HealthJson, PartState } from "../api/gateway.ts";
import { timeText, timeTextOrNull } from "../floor/time-text.ts";
import { sendProblem } from "../problem.ts";
import { linkNames } from "../status-report.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";

export interface GatewayHealthParts {
  readonly gatewayId: string;
  readonly version: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
  readonly health: () => Readonly<Record<string, Health>>;
  /** Wall time since when a part is in its state; null: not known. */
  readonly stateSinceMs: (part: string) => number | null;
  readonly clock: Pick<Clock, "nowMs">;
}

const worstFirst: readonly PartState[] = ["down", "starting", "degraded", "up"];

/**
 * `GET /api/v1/health`: the state of every part. `GET /api/v1/connections`: of those that connect the gateway
 * to others.
 */
export function addGatewayHealthRoutes(server: FastifyInstance, parts: GatewayHealthParts): void {
  const partOf = (name: string, { state, detail, figures }: Health) => ({
    state,
    since: timeTextOrNull(parts.stateSinceMs(name)),
    detail: detail ?? "",
    figures: figures ?? {},
  });

  server.get("/api/v1/health", async (_request, reply) => {
    const found = Object.entries(publishedHealth(parts.health()));
    const state = worstFirst.find((each) => found.some(([, part]) => part.state === each)) ?? "starting";
    const { gatewayId, version, sessionId, startedAtMs, clock } = parts;
    const answer: HealthJson = {
      state,
      at: timeText(clock.nowMs()),
      gateway_id: gatewayId,
      version,
      session_id: sessionId,
      started_at: timeText(startedAtMs),
      parts: Object.fromEntries(found.map(([name, part]) => [name, partOf(name, part)])),
    };
    return reply.send(answer);
  });

  server.get<{ Querystring: Query }>("/api/v1/connections", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const found = Object.entries(publishedHealth(parts.health()));
    return sendPage(reply, query, {
      name: "connections",
      items: found.filter(([name]) => linkNames.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1)),
      keyOf: ([name]) => name,
      write: ([name, part]): Connection => ({ name, ...partOf(name, part) }),
    });
  });
}
