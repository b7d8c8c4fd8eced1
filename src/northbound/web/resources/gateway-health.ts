import type { FastifyInstance } from "fastify";
import { isoTime, timeText } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import { publishedHealth } from "../../../platform/published-health.ts";
import type { Health as HealthJson, PartState } from "../api/gateway.ts";
import type { GatewayCondition, GatewayIdentity } from "../gateway-facts.ts";

const worstFirst: readonly PartState[] = ["down", "starting", "degraded", "up"];

/** `GET /api/v1/health`: the state of every component. */
export function addGatewayHealthRoutes(
  server: FastifyInstance,
  { gatewayId, version, sessionId, startedAtMs }: GatewayIdentity,
  { health, stateSinceMs }: Pick<GatewayCondition, "health" | "stateSinceMs">,
  clock: Pick<Clock, "nowMs">,
): void {
  const partOf = (name: string, { state, detail, figures }: Health) => ({
    state,
    since: isoTime(stateSinceMs(name)),
    detail: detail ?? "",
    figures: figures ?? {},
  });

  server.get("/api/v1/health", async (_request, reply) => {
    const found = Object.entries(publishedHealth(health()));
    const state = worstFirst.find((each) => found.some(([, part]) => part.state === each)) ?? "starting";
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
}
