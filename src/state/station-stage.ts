import type { Batch } from "../contracts/link.ts";
import type { Stage } from "../contracts/stage.ts";
import type { VisibleStations } from "../contracts/stations.ts";
import type { StateChange } from "../domain/change.ts";
import type { Quality } from "../domain/quality.ts";
import type { RobotId } from "../domain/robot.ts";
import {
  placeAt,
  qualityOf,
  type StationCandidate,
  type StationSight,
  sightOf,
  unknownSight,
} from "../domain/station-sight.ts";
import {
  aborted,
  followVisits,
  noCounters,
  type StationCounters,
  type StationVisits,
  type VisibleStation,
} from "../domain/station-visits.ts";
import type { Clock } from "../platform/clock.ts";
import { isJsonObject } from "../platform/json.ts";
import { createKeptFile, readNowIfThere } from "../platform/kept-file.ts";
import type { Live } from "../platform/live.ts";
import { describeError, type Log } from "../platform/log.ts";
import { createStationRobots, type SeenRobot, stationRobot } from "./station-robots.ts";

type PlacedStation = { readonly name: string; readonly destinations: readonly string[] };

/** Adds the stations that a batch changes. */
export interface StationStage extends Stage, VisibleStations {
  /** Sets the counters of a station to 0. Returns its new value. */
  reset(station: string): Batch;
  /**
   * The configuration has other stations or destinations. Takes the values of all robots, because
   * without stations none was followed until now. Returns the changes.
   */
  review(values: readonly StateChange[]): Batch;
  /** Resolves when the counters are written, or cannot be. */
  settled(): Promise<void>;
}

interface Station {
  place: PlacedStation;
  /** Robots that are here, or come, or did so when they were last seen. */
  readonly candidates: Map<RobotId, StationCandidate>;
  sight: StationSight;
  visits: StationVisits;
}

/**
 * @param stations those of the configuration
 * @param file the file of the counters
 */
export function createStationStage(
  stations: Live<readonly PlacedStation[]>,
  file: string,
  clock: Clock,
  log: Log,
): StationStage {
  const memory = createStationStore(file, clock.nowMs, log);
  const robots = createStationRobots();
  const registry = new Map(stations.now().map((place): [string, Station] => [place.name, opened(place)]));
  let fleetQuality: Quality = "unknown";

  function opened(place: PlacedStation): Station {
    const visits = memory.load(place.name);
    return { place, candidates: new Map(), sight: unknownSight, visits };
  }

  /** The change of a station whose published value is different now; null: it is not. */
  function refresh(station: Station): StateChange | null {
    const { sight, visits, candidates } = station;
    const { destinations } = station.place;
    const shownBefore = visits.visit?.robotId ?? sight.here?.robotId ?? null;
    station.sight = sightOf([...candidates.values()], fleetQuality, shownBefore);
    const robot = visits.visit === null ? undefined : robots.of(visits.visit.robotId);
    const visitor = robot && { robot, place: placeAt(destinations, robot) };
    station.visits = followVisits(visits, station.sight, visitor, clock.monotonicMs());
    if (
      station.visits.counters !== visits.counters ||
      (station.visits.visit === null) !== (visits.visit === null)
    ) {
      keep();
    }
    const isSame =
      station.visits.counters === visits.counters && JSON.stringify(station.sight) === JSON.stringify(sight);
    return isSame ? null : changeOf(station);
  }

  function lookAgain(station: Station): StateChange {
    station.candidates.clear();
    for (const robot of robots.all()) note(station, robot);
    // The robot has not left: the position no longer belongs to the station.
    const { visit, counters } = station.visits;
    const isHere = visit === null || station.candidates.get(visit.robotId)?.place.kind === "here";
    if (!isHere) station.visits = { visit: null, counters: aborted(counters) };
    return refresh(station) ?? changeOf(station);
  }

  function keep(): void {
    memory.keep(new Map(Array.from(registry.values(), ({ place, visits }) => [place.name, visits])));
  }

  return {
    name: "stations",
    apply(batch) {
      if (registry.size === 0) return batch;
      const touched = robots.see(batch.changes);
      if (touched.size === 0) return batch;
      const bestBefore = fleetQuality;
      fleetQuality = robots.best();
      const fresh: StateChange[] = [];
      for (const station of registry.values()) {
        let isOther = fleetQuality !== bestBefore;
        for (const robot of touched) isOther = note(station, robot) || isOther;
        const change = isOther ? refresh(station) : null;
        if (change !== null) fresh.push(change);
      }
      return fresh.length === 0 ? batch : { ...batch, changes: [...batch.changes, ...fresh] };
    },
    view: (before) => ({
      snapshot: () => [...before.snapshot(), ...Array.from(registry.values(), changeOf)],
      current(change) {
        if (change.kind !== "station" && change.kind !== "station_removed") return before.current(change);
        const station = registry.get(change.station);
        if (station === undefined) return { kind: "station_removed", station: change.station };
        const isSame =
          change.kind === "station" &&
          station.sight === change.shown.sight &&
          station.visits.counters === change.shown.counters;
        return isSame ? change : changeOf(station);
      },
    }),
    shown(name) {
      const station = registry.get(name);
      return station === undefined ? null : shownOf(station);
    },
    reset(name) {
      const station = registry.get(name);
      if (station === undefined) return { changes: [], events: [] };
      station.visits = { ...station.visits, counters: noCounters(clock.nowMs()) };
      keep();
      return { changes: [changeOf(station)], events: [] };
    },
    review(values) {
      const removed = follow(registry, stations.now(), opened);
      robots.see(values);
      fleetQuality = robots.best();
      const changed = Array.from(registry.values(), lookAgain);
      keep();
      const left = removed.map((station): StateChange => ({ kind: "station_removed", station }));
      return { changes: [...left, ...changed], events: [] };
    },
    settled: memory.settled,
  };
}

/** Updates the robots that may be at the station. Returns whether anything is different. */
function note({ candidates, place: { destinations }, visits }: Station, seen: SeenRobot): boolean {
  const { robotId } = seen;
  const mayBeHere = candidates.has(robotId) || visits.visit?.robotId === robotId;
  // Most robots have nothing to do with most stations.
  if (!mayBeHere && !isBound(seen, destinations)) return false;
  const robot = stationRobot(seen);
  const place = placeAt(destinations, robot);
  if (place.kind === "elsewhere") return candidates.delete(robotId) || mayBeHere;
  const before = candidates.get(robotId);
  candidates.set(robotId, { robot, place });
  return before === undefined || !isStillComing(before, { robot, place });
}

/** Adds the stations of the configuration. Returns those that are gone. */
function follow(
  registry: Map<string, Station>,
  stations: readonly PlacedStation[],
  open: (place: PlacedStation) => Station,
): readonly string[] {
  const known = new Set(stations.map(({ name }) => name));
  const removed = [...registry.keys()].filter((name) => !known.has(name));
  for (const name of removed) registry.delete(name);
  for (const place of stations) {
    const station = registry.get(place.name);
    if (station === undefined) registry.set(place.name, open(place));
    else station.place = place;
  }
  return removed;
}

/** Whether a robot is on its way as before: then the station shows the same as before. */
function isStillComing(before: StationCandidate, now: StationCandidate): boolean {
  const [a, b] = [before.place, now.place];
  if (a.kind !== "coming" || b.kind !== "coming" || a.goalsBefore !== b.goalsBefore) return false;
  return qualityOf(before.robot) === qualityOf(now.robot);
}

/** Whether a robot was seen at one of the destinations, or has a mission to one of them. */
function isBound({ missions, presence }: SeenRobot, destinations: readonly string[]): boolean {
  if (presence !== undefined && destinations.includes(presence.value.position)) return true;
  for (const { goals } of missions?.value.missions ?? []) {
    for (const goal of goals) {
      if (goal.kind === "destination" && destinations.includes(goal.destinationId)) return true;
    }
  }
  return false;
}

function changeOf(station: Station): StateChange {
  return { kind: "station", station: station.place.name, shown: shownOf(station) };
}

function shownOf({ sight, visits: { counters } }: Station): VisibleStation {
  return { sight, counters };
}

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
function createStationStore(path: string, nowMs: () => number, log: Log): StationStore {
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
