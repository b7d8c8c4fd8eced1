import type { MapSpec, Vertex } from "../scenario/schema.ts";

/** A position, in metres. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The name of a mission's goal: a destination by its display name, or a pose. */
export type GoalName =
  | { readonly kind: "destination"; readonly destinationId: string }
  | { readonly kind: "pose"; readonly x: number; readonly y: number; readonly heading: number };

/** A goal found on a map. */
export interface Target extends Point {
  readonly goal: GoalName;
  readonly heading: number;
  readonly vertex: Vertex | undefined;
}

/** A map with its look-ups. */
export interface FleetMap extends MapSpec {
  byCode(code: string): Vertex | undefined;
  /**
   * The position of a goal; undefined: an unknown destination, or a pose outside the vertices' bounding box.
   */
  find(goal: GoalName): Target | undefined;
  /** The vertex within 0.5 m of a position, the nearest first. */
  vertexAt(place: Point): Vertex | undefined;
  /** The positions to drive through, in straight lines, the last of them `to`. */
  route(from: Point, to: Point): readonly Point[];
}

/** Positions within this distance are the same, in metres. */
const SAME_PLACE_METERS = 0.5;

/** The name that a destination_id must match (docs/internals/service.md, How deployed services behave). */
export function displayName(vertex: Vertex): string {
  return vertex.alias === "" ? vertex.code : vertex.alias;
}

/** A vertex as a target of a mission. */
export function targetOf(vertex: Vertex): Target {
  return {
    goal: { kind: "destination", destinationId: displayName(vertex) },
    x: vertex.x,
    y: vertex.y,
    heading: vertex.theta,
    vertex,
  };
}

export function distanceMeters(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** Whether two positions are the same for a robot. */
export function samePlace(a: Point, b: Point): boolean {
  return distanceMeters(a, b) < SAME_PLACE_METERS;
}

/** Builds the look-ups of a map. */
export function createMap(spec: MapSpec): FleetMap {
  const byCode = new Map(spec.vertices.map((vertex) => [vertex.code, vertex]));
  const byName = new Map(spec.vertices.map((vertex) => [displayName(vertex), vertex]));
  const xs = spec.vertices.map((vertex) => vertex.x);
  const ys = spec.vertices.map((vertex) => vertex.y);
  const [minX, maxX, minY, maxY] = [least(xs), -least(xs.map(negate)), least(ys), -least(ys.map(negate))];
  const neighbours = adjacency(spec, byCode);

  const vertexAt = (place: Point) => {
    const nearest = nearestVertex(spec.vertices, place);
    return nearest !== undefined && samePlace(nearest, place) ? nearest : undefined;
  };

  return {
    ...spec,
    byCode: (code) => byCode.get(code),
    find(goal) {
      if (goal.kind === "destination") {
        const vertex = byName.get(goal.destinationId);
        return vertex === undefined ? undefined : targetOf(vertex);
      }
      const { x, y, heading } = goal;
      const inside = x >= minX && x <= maxX && y >= minY && y <= maxY && Number.isFinite(heading);
      return inside ? { goal, x, y, heading, vertex: vertexAt(goal) } : undefined;
    },
    vertexAt,
    route(from, to) {
      if (neighbours.size === 0) return [to];
      const start = nearestVertex(spec.vertices, from);
      const end = nearestVertex(spec.vertices, to);
      if (start === undefined || end === undefined || start === end) return [to];
      const between = shortestPath(neighbours, start, end);
      if (between === undefined) return [to];
      const points: Point[] = between.filter((vertex) => !samePlace(vertex, from) && !samePlace(vertex, to));
      return [...points, to];
    },
  };
}

const negate = (value: number) => -value;

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

function nearestVertex(vertices: readonly Vertex[], place: Point): Vertex | undefined {
  let nearest: Vertex | undefined;
  let nearestMeters = Number.POSITIVE_INFINITY;
  for (const vertex of vertices) {
    const meters = distanceMeters(vertex, place);
    if (meters < nearestMeters) [nearest, nearestMeters] = [vertex, meters];
  }
  return nearest;
}

function adjacency(spec: MapSpec, byCode: ReadonlyMap<string, Vertex>): Map<Vertex, Vertex[]> {
  const neighbours = new Map<Vertex, Vertex[]>();
  const join = (from: Vertex, to: Vertex) => {
    const list = neighbours.get(from);
    if (list === undefined) neighbours.set(from, [to]);
    else list.push(to);
  };
  for (const [one, other] of spec.edges) {
    const a = byCode.get(one);
    const b = byCode.get(other);
    if (a === undefined || b === undefined) continue;
    join(a, b);
    join(b, a);
  }
  return neighbours;
}

/** Dijkstra over few vertices: a plain scan is faster than a heap. */
function shortestPath(
  neighbours: ReadonlyMap<Vertex, readonly Vertex[]>,
  start: Vertex,
  end: Vertex,
): readonly Vertex[] | undefined {
  const reached = new Map<Vertex, { meters: number; from: Vertex | undefined }>([
    [start, { meters: 0, from: undefined }],
  ]);
  const done = new Set<Vertex>();
  for (;;) {
    let at: Vertex | undefined;
    let atMeters = Number.POSITIVE_INFINITY;
    for (const [vertex, { meters }] of reached) {
      if (!done.has(vertex) && meters < atMeters) [at, atMeters] = [vertex, meters];
    }
    if (at === undefined) return undefined;
    if (at === end) break;
    done.add(at);
    for (const next of neighbours.get(at) ?? []) {
      const meters = atMeters + distanceMeters(at, next);
      if (meters < (reached.get(next)?.meters ?? Number.POSITIVE_INFINITY)) {
        reached.set(next, { meters, from: at });
      }
    }
  }
  const path: Vertex[] = [];
  for (let at: Vertex | undefined = end; at !== undefined; at = reached.get(at)?.from) path.unshift(at);
  return path;
}
