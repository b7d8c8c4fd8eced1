import type { FastifyInstance } from "fastify";
import type { BatteryTrends, LatencyTrend, Trend } from "../../../contracts/trends.ts";
import { unknownRobot } from "../../../domain/outcome.ts";
import { timeText } from "../../../models/json-text.ts";
import type * as api from "../api/trend.ts";
import type { Floor } from "../floor/floor.ts";
import { sendProblem } from "../problem.ts";

/** `GET /api/v1/robots/{robot}/battery-trend` and `GET /api/v1/command-latency`: hours, from memory. */
export function addTrendRoutes(
  server: FastifyInstance,
  floor: Pick<Floor, "robots">,
  trends: BatteryTrends & LatencyTrend,
): void {
  server.get<{ Params: { robot: string } }>(
    "/api/v1/robots/:robot/battery-trend",
    async ({ params: { robot } }, reply) => {
      if (!floor.robots().has(robot)) return sendProblem(reply, 404, unknownRobot(robot).message);
      const trend = trends.batteryOf(robot);
      const body: api.BatteryTrend = {
        robot_id: robot,
        ...timesOf(trend),
        charge_percent: trend.values.map((percent) => (percent === null ? null : Math.round(percent))),
      };
      return reply.send(body);
    },
  );
  server.get("/api/v1/command-latency", async (_request, reply) => {
    const trend = trends.latency();
    const body: api.LatencyTrend = {
      ...timesOf(trend),
      steps: trend.values.map((step) =>
        step === null
          ? null
          : {
              commands: step.commands,
              unknown: step.unknown,
              p50_ms: rounded(step.p50Ms),
              p95_ms: rounded(step.p95Ms),
            },
      ),
    };
    return reply.send(body);
  });
}

function timesOf({ sinceMs, stepMs, firstAtMs }: Trend<unknown>) {
  return { since: timeText(sinceMs), step_ms: stepMs, first_at: timeText(firstAtMs) };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 10) / 10;
}
