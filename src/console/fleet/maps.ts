import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { FleetMap, MapPoint, MapSummary } from "../../northbound/web/api/floor.ts";
import type { Answer } from "../api.ts";
import { say } from "../texts/texts.ts";
import type { Fleet } from "./fleet.ts";

/** A map as far as it could be read. */
export interface KnownMap {
  readonly readAt: string;
  readonly map: FleetMap | null;
  readonly problem: string | null;
}

/** The points of all maps: robots of every hall have the names of their places. */
export interface MapStore {
  readonly known: ReadonlySignal<ReadonlyMap<number, KnownMap>>;
  /** The name of a point for people. One name for one place, on every view. */
  nameOf(mapId: number, code: string): string;
}

/** Reads each map anew when the gateway has read it again. */
export function createMapStore(
  fleet: ReadonlySignal<Fleet | null>,
  read: (mapId: number) => Promise<Answer<FleetMap>>,
): MapStore {
  const known = signal<ReadonlyMap<number, KnownMap>>(new Map());
  const names = computed(() => namesOf(known.value));
  const listed = computed(() => fleet.value?.maps ?? null);
  const underWay = new Map<number, string>();

  async function readAgain({ map_id: mapId, read_at: readAt }: MapSummary): Promise<void> {
    underWay.set(mapId, readAt);
    const answer = await read(mapId);
    // A newer one is being read.
    if (underWay.get(mapId) !== readAt) return;
    underWay.delete(mapId);
    const map = "value" in answer ? answer.value : (known.peek().get(mapId)?.map ?? null);
    known.value = new Map(known.peek()).set(mapId, { readAt, map, problem: problemOf(answer) });
  }

  effect(() => {
    const maps = listed.value;
    // Another user may log in.
    if (maps === null) known.value = new Map();
    for (const summary of maps?.values() ?? []) {
      const { map_id: mapId, read_at: readAt } = summary;
      if ((underWay.get(mapId) ?? known.peek().get(mapId)?.readAt) !== readAt) void readAgain(summary);
    }
  });
  return { known, nameOf: (mapId, code) => names.value.get(`${mapId} ${code}`) ?? code };
}

function namesOf(known: ReadonlyMap<number, KnownMap>): ReadonlyMap<string, string> {
  const named = [...known].flatMap(([mapId, { map }]) =>
    (map?.points ?? []).map((point) => [`${mapId} ${point.code}`, pointName(point)] as const),
  );
  return new Map(named);
}

/** The alias of a point, or its code without one. Destinations of missions are named so, too. */
export function pointName({ alias, code }: Pick<MapPoint, "alias" | "code">): string {
  return alias === "" ? code : alias;
}

function problemOf(answer: Answer<FleetMap>): string | null {
  if ("problem" in answer) return say("floor.mapProblem", { problem: answer.problem });
  return answer.value.points === null ? say("floor.mapTooLarge") : null;
}
