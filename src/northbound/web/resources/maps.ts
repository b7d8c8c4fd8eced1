import type { FastifyInstance } from "fastify";
import { quoted } from "../../../domain/clip.ts";
import type { Floor } from "../floor/floor.ts";
import { mapJson, mapSummaryJson } from "../floor/map-json.ts";
import { sendProblem } from "../problem.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";
import { orderKey } from "./order-key.ts";

/** `GET /api/v1/maps` and `GET /api/v1/maps/{map}`: the points of the last answers of GetMap. */
export function addMapRoutes(server: FastifyInstance, floor: Pick<Floor, "robots" | "maps">): void {
  server.get<{ Querystring: Query }>("/api/v1/maps", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    return sendPage(reply, query, {
      name: "maps",
      items: [...floor.maps()].sort(([a], [b]) => a - b),
      keyOf: ([mapId]) => orderKey(mapId),
      write: ([mapId, map]) => mapSummaryJson(mapId, map, floor.robots().values()),
    });
  });

  server.get<{ Params: { map: string } }>("/api/v1/maps/:map", async ({ params }, reply) => {
    const mapId = /^\d{1,15}$/.test(params.map) ? Number(params.map) : Number.NaN;
    const map = floor.maps().get(mapId);
    if (map === undefined)
      return sendProblem(reply, 404, `the fleet service has answered with no map ${quoted(params.map)}`);
    return reply.send(mapJson(mapId, map, floor.robots().values()));
  });
}
