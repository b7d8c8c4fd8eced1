import type { FastifyInstance } from "fastify";
import type { BatteryTrends } from "../../../contracts/trends.ts";
import { quoted } from "../../../domain/foreign-text.ts";
import { unknownRobot } from "../../../domain/outcome.ts";
import type { FleetMap } from "../../../domain/update.ts";
import { timeText } from "../../../models/json-text.ts";
import type { FloorSettings, FleetMap as MapJson, MapPoint, MapSummary } from "../api/floor.ts";
import type { BatteryTrend } from "../api/trend.ts";
import type { Floor } from "../floor/floor.ts";
import type { RobotWriter, StationWriter } from "../floor/floor-json.ts";
import type { RobotFacts } from "../floor/robot-facts.ts";
import type { FloorOptions } from "../options.ts";
import { sendProblem } from "../problem.ts";
import { orderKey, type Query, sendPage } from "./list-page.ts";

/** `GET /api/v1/stations`: the stations of the configuration with their values. */
export function addStationRoutes(
  server: FastifyInstance,
  floor: Pick<Floor, "robots" | "stations">,
  stationJson: StationWriter,
): void {
  server.get<{ Querystring: Query }>("/api/v1/stations", async ({ query }, reply) => {
    return sendPage(reply, query, {
      name: "stations",
      items: [...floor.stations()].sort(([a], [b]) => (a < b ? -1 : 1)),
      keyOf: ([name]) => name,
      write: ([name, facts]) => stationJson(name, facts, floor.robots().keys()),
    });
  });
}

/** `GET /api/v1/robots` and `GET /api/v1/robots/{robot}`: all that is known of robots. */
export function addRobotRoutes(
  server: FastifyInstance,
  floor: Pick<Floor, "robots">,
  robotWriter: RobotWriter,
): void {
  server.get<{ Querystring: Query }>("/api/v1/robots", async ({ query }, reply) => {
    const items = [...floor.robots().values()].sort((a, b) => (a.robotId < b.robotId ? -1 : 1));
    return sendPage(reply, query, {
      name: "robots",
      items,
      keyOf: ({ robotId }) => robotId,
      write: robotWriter.whole,
    });
  });

  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot", async ({ params }, reply) => {
    const facts = floor.robots().get(params.robot);
    if (facts === undefined) return sendProblem(reply, 404, unknownRobot(params.robot).message);
    return reply.send(robotWriter.whole(facts));
  });
}

/** `GET /api/v1/robots/{robot}/battery-trend`: hours, from memory. */
export function addBatteryTrendRoute(
  server: FastifyInstance,
  floor: Pick<Floor, "robots">,
  trends: BatteryTrends,
): void {
  server.get<{ Params: { robot: string } }>(
    "/api/v1/robots/:robot/battery-trend",
    async ({ params: { robot } }, reply) => {
      if (!floor.robots().has(robot)) return sendProblem(reply, 404, unknownRobot(robot).message);
      const { sinceMs, stepMs, firstAtMs, values } = trends.batteryOf(robot);
      const body: BatteryTrend = {
        robot_id: robot,
        since: timeText(sinceMs),
        step_ms: stepMs,
        first_at: timeText(firstAtMs),
        charge_percent: values.map((percent) => (percent === null ? null : Math.round(percent))),
      };
      return reply.send(body);
    },
  );
}

/** `GET /api/v1/maps` and `GET /api/v1/maps/{map}`: the points of the last answers of GetMap. */
export function addMapRoutes(server: FastifyInstance, floor: Pick<Floor, "robots" | "maps">): void {
  server.get<{ Querystring: Query }>("/api/v1/maps", async ({ query }, reply) => {
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

/** @param robots robots that may be on the map, because they name it */
export function mapSummaryJson(mapId: number, map: FleetMap, robots: Iterable<RobotFacts>): MapSummary {
  return { map_id: mapId, name: nameOf(mapId, robots), read_at: timeText(map.readAtMs), bytes: map.bytes };
}

function mapJson(mapId: number, map: FleetMap, robots: Iterable<RobotFacts>): MapJson {
  return { ...mapSummaryJson(mapId, map, robots), points: map.json === null ? null : pointsIn(map.json) };
}

function nameOf(mapId: number, robots: Iterable<RobotFacts>): string | null {
  for (const { presence } of robots) {
    if (presence?.value.mapId !== mapId) continue;
    const name: unknown = presence.value.info.map_name;
    if (typeof name === "string" && name !== "") return name;
  }
  return null;
}

/** The points with a position; null: the answer has no list of points. */
function pointsIn(json: string): readonly MapPoint[] | null {
  const answer: unknown = JSON.parse(json);
  const list: unknown =
    typeof answer === "object" && answer !== null ? Reflect.get(answer, "vertexes") : undefined;
  return Array.isArray(list) ? list.flatMap((vertex: unknown) => pointOf(vertex) ?? []) : null;
}

function pointOf(vertex: unknown): MapPoint | null {
  if (typeof vertex !== "object" || vertex === null) return null;
  const field = (name: string): unknown => Reflect.get(vertex, name);
  const [x, y] = [field("x"), field("y")];
  if (typeof x !== "number" || typeof y !== "number") return null;
  const text = (name: string) => (typeof field(name) === "string" ? String(field(name)) : "");
  const number = (name: string) => (typeof field(name) === "number" ? Number(field(name)) : null);
  return {
    id: number("id"),
    code: text("code"),
    alias: text("alias"),
    x,
    y,
    theta: number("theta"),
    type: number("type"),
  };
}
