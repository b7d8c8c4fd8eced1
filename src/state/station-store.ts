import { aborted, noCounters, type StationCounters, type StationVisits } from "../domain/station-visits.ts";
import { isJsonObject } from "../platform/json.ts";
import { createKeptFile, readNowIfThere } from "../platform/kept-file.ts";
import { describeError, type Log } from "../platform/log.ts";

/** Keeps the counters of stations over a restart. Never throws. */
export interface StationStore {
  /**
   * The counters of an earlier run. A visit that was under way then is aborted. Missing counters begin now.
   */
  load(station: string): StationVisits;
  /** Writes the visits of all stations, each time that one of them begins or ends. */
  keep(stations: ReadonlyMap<string, StationVisits>): void;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

/**
 * Keeps one JSON file, which can be copied at any time. A file that cannot be read counts as missing; a
 * failed write is made up with the next visit. Both are logged.
 */
export function createStationStore(path: string, nowMs: () => number, log: Log): StationStore {
  const file = createKeptFile(path);
  let isFailing = false;
  let kept: Map<string, unknown> | null = null;

  function read(): Readonly<Record<string, unknown>> {
    try {
      const json: unknown = JSON.parse(readNowIfThere(path) ?? "{}");
      if (isJsonObject(json)) return json;
      throw new Error("it is no object");
    } catch (error) {
      log.error(
        { path, cause: describeError(error) },
        "the counters of stations cannot be read: they begin at 0",
      );
      return {};
    }
  }

  return {
    load(station) {
      kept ??= new Map(Object.entries(read()));
      const json = kept.get(station);
      // Only once: a station that is removed by a reload, and comes back with another, begins anew.
      kept.delete(station);
      const counters = countersOf(json) ?? noCounters(nowMs());
      const wasVisited = isJsonObject(json) && json.isVisited === true;
      return { visit: null, counters: wasVisited ? aborted(counters) : counters };
    },
    keep(stations) {
      const all = Array.from(stations, ([name, { visit, counters }]) => [
        name,
        { ...counters, isVisited: visit !== null },
      ]);
      file.write(`${JSON.stringify(Object.fromEntries(all))}\n`).then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing)
            log.warn({ path, cause: describeError(error) }, "the counters of stations are not kept");
          isFailing = true;
        },
      );
    },
    settled: file.settled,
  };
}

/** Null where it is not what `keep` writes. */
function countersOf(json: unknown): StationCounters | null {
  if (!isJsonObject(json)) return null;
  const counters: Record<string, number> = {};
  for (const name of Object.keys(noCounters(0))) {
    const value = json[name];
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return null;
    counters[name] = value;
  }
  return { ...noCounters(0), ...counters };
}
