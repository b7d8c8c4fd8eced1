import type { RequestField } from "../../northbound/web/api/command.ts";
import type { MapPoint } from "../../northbound/web/api/floor.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { byName } from "../fleet/list.ts";
import { type KnownMap, pointName } from "../fleet/maps.ts";
import { say } from "../texts/texts.ts";

/** Values that fields of a form may name. */
export interface Offers {
  readonly destinations: readonly string[];
  readonly points: readonly string[];
  readonly robots: readonly string[];
  readonly numbers: readonly string[];
  readonly missions: readonly string[];
  readonly chains: readonly string[];
  readonly maps: readonly string[];
  readonly conveyors: readonly string[];
}

/** The kind of value that a field names, by its snake_case name. */
const kinds: Readonly<Record<string, keyof Offers>> = {
  destination_id: "destinations",
  end_point_code: "points",
  robot_id: "robots",
  amr_id: "numbers",
  mission_id: "missions",
  task_chain_id: "chains",
  task_chain_ids: "chains",
  map_id: "maps",
  index: "conveyors",
};

/** The values that a field may take, as far as the page knows them. The gateway accepts others too. */
export function offersFor({ name }: Pick<RequestField, "name">, offers: Offers): readonly string[] {
  const kind = kinds[name];
  return kind === undefined ? [] : offers[kind];
}

/**
 * The values that the page knows, for a robot or for all. A destination has the name of its point: the alias,
 * or the code without one.
 */
export function offersOf(fleet: Fleet, points: readonly MapPoint[], robot: Robot | null): Offers {
  const all = [...fleet.robots.values()].map((known) => known.robot);
  const asked = robot === null ? all : [robot];
  return {
    destinations: distinct([...points.map(pointName), ...goalsOf(fleet)]),
    points: distinct(points.map(({ code }) => code)),
    robots: distinct(all.map(({ robot_id: id }) => id)),
    numbers: distinct(asked.flatMap(({ place }) => (place === null ? [] : [`${place.amr_id}`]))),
    missions: distinct(
      asked.flatMap(({ mission }) => (mission?.state?.missions ?? []).map(({ mission_id: id }) => id)),
    ),
    chains: distinct(asked.flatMap(({ task_chain: chain }) => chainIdOf(chain) ?? [])),
    maps: [...fleet.maps.keys()].map(String),
    conveyors: distinct(asked.flatMap(({ conveyors }) => conveyors.map(({ index }) => `${index}`))),
  };
}

/** The destinations of all missions. */
function goalsOf({ robots }: Fleet): readonly string[] {
  const queues = [...robots.values()].flatMap(({ robot }) => robot.mission?.state?.missions ?? []);
  const goals = queues.flatMap(({ goals: own }) => own);
  return goals.flatMap((goal) => ("destination_id" in goal ? [goal.destination_id] : []));
}

/**
 * The first destination of a request that no map has and no mission goes to, as a problem at its field. Null:
 * there is none, or not every map is known.
 */
export function unknownDestination(
  request: unknown,
  fleet: Fleet,
  known: ReadonlyMap<number, KnownMap>,
): { readonly path: string; readonly text: string } | null {
  const maps = [...fleet.maps.keys()].map((mapId) => known.get(mapId)?.map?.points ?? null);
  if (maps.length === 0 || !maps.every((points) => points !== null)) return null;
  const names = new Set([...maps.flat().flatMap(({ alias, code }) => [alias, code]), ...goalsOf(fleet)]);
  const unknown = destinationsIn(request, []).find(({ name }) => name !== "" && !names.has(name));
  return unknown === undefined
    ? null
    : { path: unknown.path.join("."), text: say("check.noPlace", { name: unknown.name }) };
}

interface NamedDestination {
  readonly path: readonly string[];
  readonly name: string;
}

function destinationsIn(value: unknown, path: readonly string[]): readonly NamedDestination[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const here = [...path, key];
    if (typeof part !== "string") return destinationsIn(part, here);
    return key === "destinationId" ? [{ path: here, name: part }] : [];
  });
}

/** The id of a robot's task chain as text; null: not known. */
export function chainIdOf(chain: Robot["task_chain"]): string | null {
  const id = chain?.state?.task_chain_state?.id;
  return id === undefined ? null : `${id}`;
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== "").sort(byName);
}
