import type { FastifyInstance } from "fastify";
import type { Alarm } from "../../domain/alarm.ts";
import { alarmOf } from "../../models/alarm.ts";
import { sendProblem } from "./problem.ts";
import { type Query, reverseOrderKey, sendPage, unknownParameter } from "./resources/list-page.ts";

/** `GET /api/v1/alarms` answers 200 with all alarms, the most urgent first. */
export function addAlarmRoutes(server: FastifyInstance, standingAlarms: () => readonly Alarm[]): void {
  server.get<{ Querystring: Query }>("/api/v1/alarms", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    const items = standingAlarms().toSorted((a, b) => (urgencyKey(a) < urgencyKey(b) ? -1 : 1));
    return sendPage(reply, query, { name: "alarms", items, keyOf: urgencyKey, write: alarmOf });
  });
}

/** The most urgent first, in the order of `byUrgency`. */
function urgencyKey({ severity, sinceMs, id }: Alarm): string {
  return `${reverseOrderKey(severity)}${reverseOrderKey(sinceMs)}${id}`;
}
