import type { FastifyInstance } from "fastify";
import type { MakeStopRequest } from "../../../contracts/fleet-port.ts";
import type { Alarm } from "../../../domain/alarm.ts";
import { unknownRobot } from "../../../domain/refusals.ts";
import { activitiesOf, stopsOf } from "../../../domain/stops.ts";
import { alarmOf } from "../../../models/alarm.ts";
import { isoTime, timeText } from "../../../models/json-text.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import { publishedHealth } from "../../../platform/health-history.ts";
import type { Health as HealthJson, PartState } from "../api/gateway.ts";
import type { Floor } from "../floor/floor.ts";
import { sendProblem } from "../problem.ts";
import type { GatewayCondition, GatewayIdentity } from "../status-report.ts";
import type { Ticks } from "../stream/ticks.ts";
import { type Query, reverseOrderKey, sendPage, unknownParameter } from "./list-page.ts";

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

interface PauseRouteParts {
  readonly floor: Pick<Floor, "robots">;
  readonly stopRequest: MakeStopRequest;
  readonly ticks: Pick<Ticks, "fresh">;
}

/**
 * `GET /api/v1/robots/{robot}/pause`: the commands that pause the robot now, by the rule of slots and holds.
 * It sends nothing; the client sends each command, under an id of its own, with the tick.
 */
export function addPauseRoute(server: FastifyInstance, { floor, stopRequest, ticks }: PauseRouteParts): void {
  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot/pause", async ({ params }, reply) => {
    const facts = floor.robots().get(params.robot);
    if (facts === undefined) return sendProblem(reply, 404, unknownRobot(params.robot).message);
    const { missions, presence } = facts;
    const stops = stopsOf(activitiesOf({ missions, presence, conveyors: [] }));
    const commands = stops.map(({ stop }) => stopRequest(params.robot, stop));
    return reply.send({ commands, tick: ticks.fresh() });
  });
}

/** `GET /api/v1/alarms` answers 200 with all alarms, the most urgent first. */
export function addAlarmRoutes(server: FastifyInstance, listedAlarms: () => readonly Alarm[]): void {
  server.get<{ Querystring: Query }>("/api/v1/alarms", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const items = listedAlarms().toSorted((a, b) => (urgencyKey(a) < urgencyKey(b) ? -1 : 1));
    return sendPage(reply, query, { name: "alarms", items, keyOf: urgencyKey, write: alarmOf });
  });
}

/** The most urgent first, in the order of `byUrgency`. */
function urgencyKey({ severity, sinceMs, id }: Alarm): string {
  return `${reverseOrderKey(severity)}${reverseOrderKey(sinceMs)}${id}`;
}
