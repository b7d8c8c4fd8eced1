import type { MapPoint } from "../../northbound/web/api/floor.ts";
import type { RequestField } from "../../northbound/web/api/operation.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { byName } from "../fleet/list.ts";
import { pointName } from "../fleet/maps.ts";

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
  const queues = all.flatMap(({ mission }) => mission?.state?.missions ?? []);
  const goals = queues.flatMap(({ goals: own }) => own);
  const named = points.map(pointName);
  const seen = goals.flatMap((goal) => ("destination_id" in goal ? [goal.destination_id] : []));
  return {
    destinations: distinct([...named, ...seen]),
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

/** The id of a robot's task chain as text; null: not known. */
export function chainIdOf(chain: Robot["task_chain"]): string | null {
  const id = chain?.state?.task_chain_state?.id;
  return id === undefined ? null : `${id}`;
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== "").sort(byName);
}
