import type { FastifyInstance } from "fastify";
import { type Health, publishedHealth, worstState } from "../../platform/component.ts";
import type { Hang, Readiness } from "../../platform/liveness.ts";
import { publicRoute } from "./access/session-routes.ts";
import type { Metrics } from "./metrics/metrics.ts";

/** What programs that watch the gateway ask for. */
export interface Monitoring {
  /** The present health of every component, by name. */
  readonly health: () => Readonly<Record<string, Health>>;
  /** The present stalled component. */
  readonly hang: () => Hang | null;
  readonly readiness: Pick<Readiness, "problem">;
  readonly metrics: Metrics;
}

/**
 * `GET /healthz`: 200 while the gateway does its job, otherwise 503. `GET /livez`: 503 if a restart would
 * mend it. `GET /readyz`: 503 while it starts or stops; the fleet service and the broker may be away.
 * `GET /metrics`, for Prometheus.
 */
export function addMonitoringRoutes(
  server: FastifyInstance,
  { health, hang, readiness, metrics }: Monitoring,
): void {
  server.get("/livez", publicRoute, async (_request, reply) => {
    const found = hang();
    return reply
      .code(found === null ? 200 : 503)
      .send(found === null ? { alive: true } : { alive: false, ...found });
  });
  server.get("/readyz", publicRoute, async (_request, reply) => {
    const reason = readiness.problem();
    return reply
      .code(reason === null ? 200 : 503)
      .send(reason === null ? { ready: true } : { ready: false, reason });
  });
  server.get("/healthz", async (_request, reply) => {
    const report = healthReport(health());
    return reply.code(report.ok ? 200 : 503).send(report.body);
  });
  server.get("/metrics", async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}

/** The answer of `/healthz`. */
interface HealthReport {
  /** Whether the gateway does its job; `degraded` counts as yes. */
  readonly ok: boolean;
  readonly body: {
    readonly state: Health["state"];
    readonly components: Readonly<Record<string, Health>>;
  };
}

/** The state of the gateway is that of its worst component. */
function healthReport(components: Readonly<Record<string, Health>>): HealthReport {
  const state = worstState(Object.values(components));
  return {
    ok: state === "up" || state === "degraded",
    body: { state, components: publishedHealth(components) },
  };
}
