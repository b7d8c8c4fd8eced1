import type { FleetMap } from "../../../domain/fleet-map.ts";
import { timeText } from "../../../models/json-text.ts";
import type { FleetMap as MapJson, MapPoint, MapSummary } from "../api/floor.ts";
import type { RobotFacts } from "./robot-facts.ts";

/** @param robots robots that may be on the map, because they name it */
export function mapSummaryJson(mapId: number, map: FleetMap, robots: Iterable<RobotFacts>): MapSummary {
  return { map_id: mapId, name: nameOf(mapId, robots), read_at: timeText(map.readAtMs), bytes: map.bytes };
}

export function mapJson(mapId: number, map: FleetMap, robots: Iterable<RobotFacts>): MapJson {
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
