import type { Batch } from "../contracts/link.ts";
import type { Stage } from "../contracts/stage.ts";
import type { VisibleStations } from "../contracts/stations.ts";
import type { StateChange } from "../domain/change.ts";
import type { Quality } from "../domain/observed.ts";
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
import type { Live } from "../platform/live.ts";
import type { Codec } from "../platform/stores/table-store.ts";
import type { SharedTables, WriteBehind } from "../platform/stores/write-behind.ts";
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
}

interface Station {
  place: PlacedStation;
  /** Robots that are here, or come, or did so when they were last seen. */
  readonly candidates: Map<RobotId, StationCandidate>;
  sight: StationSight;
  visits: StationVisits;
  /** The leader of a cluster knows of a visit. */
  isVisitedThere: boolean;
}

/**
 * @param stations those of the configuration
 * @param tables those that have the counters
 * @param enter publishes what the leader of a cluster has counted
 */
export function createStationStage(
  stations: Live<readonly PlacedStation[]>,
  tables: WriteBehind,
  clock: Clock,
  enter: (batch: Batch) => void = () => {},
): StationStage {
  const { shared = null } = tables;
  const memory = createStationStore(tables, clock.nowMs);
  const robots = createStationRobots();
  const registry = new Map(stations.now().map((place): [string, Station] => [place.name, opened(place)]));
  let fleetQuality: Quality = "unknown";

  function opened(place: PlacedStation): Station {
    const visits = memory.load(place.name);
    return { place, candidates: new Map(), sight: unknownSight, visits, isVisitedThere: false };
  }

  /** The visit goes on; what it counts is counted by the leader of a cluster, if another member leads. */
  function counted(before: StationVisits, next: StationVisits): StationVisits {
    return shared?.isFollowing() === true ? { ...next, counters: before.counters } : next;
  }

  if (shared !== null) followLeader(shared, registry, memory, enter);

  /** The change of a station whose published value is different now; null: it is not. */
  function refresh(station: Station): StateChange | null {
    const { sight, visits, candidates } = station;
    const { destinations } = station.place;
    const shownBefore = visits.visit?.robotId ?? sight.here?.robotId ?? null;
    station.sight = sightOf([...candidates.values()], fleetQuality, shownBefore);
    const robot = visits.visit === null ? undefined : robots.of(visits.visit.robotId);
    const visitor = robot && { robot, place: placeAt(destinations, robot) };
    station.visits = counted(visits, followVisits(visits, station.sight, visitor, clock.monotonicMs()));
    if (
      station.visits.counters !== visits.counters ||
      (station.visits.visit === null) !== (visits.visit === null)
    ) {
      memory.keep(station.place.name, station.visits);
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
      memory.keep(name, station.visits);
      return { changes: [changeOf(station)], events: [] };
    },
    review(values) {
      const removed = follow(registry, stations.now(), opened);
      robots.see(values);
      fleetQuality = robots.best();
      const changed = Array.from(registry.values(), lookAgain);
      memory.forget(removed);
      for (const { place, visits } of registry.values()) memory.keep(place.name, visits);
      const left = removed.map((station): StateChange => ({ kind: "station_removed", station }));
      return { changes: [...left, ...changed], events: [] };
    },
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

/** Makes the counters those of the leader of a cluster, which counts. */
function followLeader(
  shared: SharedTables,
  registry: ReadonlyMap<string, Station>,
  memory: StationStore,
  enter: (batch: Batch) => void,
): void {
  const followed = new Set<Station>();

  function take(name: string, value: unknown): void {
    const station = registry.get(name);
    const kept = value === undefined ? null : stationCodec.decode(value);
    if (station === undefined || kept === null) return;
    station.visits = { ...station.visits, counters: kept.counters };
    station.isVisitedThere = kept.isVisited;
    followed.add(station);
  }

  shared.follow("stations", {
    all(content) {
      for (const [name, value] of content) take(name, value);
    },
    changed: take,
    settled() {
      const changes = Array.from(followed, changeOf);
      followed.clear();
      if (changes.length > 0) enter({ changes, events: [] });
    },
    lead() {
      for (const station of registry.values()) {
        const { place, visits, isVisitedThere } = station;
        // The robot of that visit is not seen here: the visit was cut off, as by a restart.
        const isCut = isVisitedThere && visits.visit === null;
        if (isCut) station.visits = { visit: null, counters: aborted(visits.counters) };
        memory.keep(place.name, station.visits);
      }
    },
  });
}

/** What is kept of a station. */
interface KeptStation {
  readonly counters: StationCounters;
  /** Whether a robot was there. */
  readonly isVisited: boolean;
}

/** Keeps the counters of stations over a restart. */
type StationStore = ReturnType<typeof createStationStore>;

function createStationStore(tables: WriteBehind, nowMs: () => number) {
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

const stationCodec: Codec<KeptStation> = {
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
