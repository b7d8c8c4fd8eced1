import type { FastifyInstance } from "fastify";
import { quoted } from "../../../domain/clip.ts";
import type { FloorSettings } from "../api/floor-settings.ts";
import type { FloorOptions } from "../options.ts";
import { sendProblem } from "../problem.ts";

/**
 * `GET /api/v1/floor`: the floor settings of the configuration. `GET /api/v1/maps/{map}/drawing`: the drawing
 * of a map, a PNG.
 */
export function addFloorSettingsRoutes(server: FastifyInstance, floorOptions: () => FloorOptions): void {
  server.get("/api/v1/floor", async (_request, reply) => {
    const { pointTypes, drawings } = floorOptions();
    const answer: FloorSettings = {
      point_types: pointTypes,
      drawings: drawings.map(({ mapId, width, height, first, second }) => ({
        map_id: mapId,
        width,
        height,
        first,
        second,
      })),
    };
    return reply.send(answer);
  });

  server.get<{ Params: { map: string } }>("/api/v1/maps/:map/drawing", async ({ params }, reply) => {
    const drawing = floorOptions().drawings.find(({ mapId }) => `${mapId}` === params.map);
    if (drawing === undefined)
      return sendProblem(reply, 404, `web.floor.drawings has no drawing of map ${quoted(params.map)}`);
    return reply.type("image/png").header("cache-control", "private, no-cache").send(drawing.bytes);
  });
}
