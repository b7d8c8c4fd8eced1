import type { StateChange } from "../domain/change.ts";
import type { FleetMap } from "../domain/fleet-map.ts";

/** The maps from the answers of the service. */
export interface MapRegistry {
  /** Null: the service no longer has the map. */
  receive(mapId: number, map: FleetMap | null, changes: StateChange[]): void;
  describe(changes: StateChange[]): void;
  current(mapId: number): StateChange | undefined;
}

/** Keeps the first `limit` maps. A map that is gone keeps its entry, so that its end can be published. */
export function createMapRegistry(limit: number): MapRegistry {
  const maps = new Map<number, FleetMap | null>();
  return {
    receive(mapId, map, changes) {
      const known = maps.get(mapId);
      if (known === undefined && (map === null || maps.size >= limit)) return;
      if (known?.readAtMs === map?.readAtMs && known?.json === map?.json) return;
      maps.set(mapId, map);
      changes.push({ kind: "map", mapId, map });
    },
    describe(changes) {
      for (const [mapId, map] of maps) changes.push({ kind: "map", mapId, map });
    },
    current(mapId) {
      const map = maps.get(mapId);
      return map === undefined ? undefined : { kind: "map", mapId, map };
    },
  };
}
