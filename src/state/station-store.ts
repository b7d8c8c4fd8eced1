import { aborted, noCounters, type StationCounters, type StationVisits } from "../domain/station-visits.ts";
import { isJsonObject } from "../platform/json.ts";
import type { Codec } from "../platform/stores/table-store.ts";
import type { WriteBehind } from "../platform/stores/write-behind.ts";

/** What is kept of a station. */
export interface KeptStation {
  readonly counters: StationCounters;
  /** Whether a robot was there. */
  readonly isVisited: boolean;
}

/** Keeps the counters of stations over a restart. */
export type StationStore = ReturnType<typeof createStationStore>;

export function createStationStore(tables: WriteBehind, nowMs: () => number) {
  const table = tables.table("stations", stationCodec, "begin empty");
  const kept = new Map(table.entries());
  return {
    /**
     * The counters of an earlier run. A visit that was under way then is aborted. Missing counters begin now.
     */
    load(station: string): StationVisits {
      const { counters, isVisited } = kept.get(station) ?? {
        counters: noCounters(nowMs()),
        isVisited: false,
      };
      return { visit: null, counters: isVisited ? aborted(counters) : counters };
    },
    keep(station: string, { visit, counters }: StationVisits): void {
      tables.keep([table.put(station, { counters, isVisited: visit !== null })]);
    },
    /** A station that is removed, and comes back with another reload, begins anew. */
    forget(stations: readonly string[]): void {
      for (const station of stations) kept.delete(station);
      tables.keep(stations.map(table.remove));
    },
  };
}

export const stationCodec: Codec<KeptStation> = {
  encode: ({ counters, isVisited }) => ({ ...counters, isVisited }),
  decode(json) {
    if (!isJsonObject(json) || typeof json.isVisited !== "boolean") return null;
    const counters: Record<string, number> = {};
    for (const name of Object.keys(noCounters(0))) {
      const value = json[name];
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return null;
      counters[name] = value;
    }
    return { counters: { ...noCounters(0), ...counters }, isVisited: json.isVisited };
  },
};
