import type { FastifyInstance } from "fastify";
import type { Floor } from "../floor/floor.ts";
import type { StationWriter } from "../floor/station-json.ts";
import { sendProblem } from "../problem.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";

/** `GET /api/v1/stations`: the stations of the configuration with their values. */
export function addStationRoutes(
  server: FastifyInstance,
  floor: Pick<Floor, "robots" | "stations">,
  stationJson: StationWriter,
): void {
  server.get<{ Querystring: Query }>("/api/v1/stations", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    return sendPage(reply, query, {
      name: "stations",
      items: [...floor.stations()].sort(([a], [b]) => (a < b ? -1 : 1)),
      keyOf: ([name]) => name,
      write: ([name, facts]) => stationJson(name, facts, floor.robots().keys()),
    });
  });
}
