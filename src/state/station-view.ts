import type { CurrentState } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { MissionQueue } from "../domain/mission.ts";
import type { Observed } from "../domain/observed.ts";
import type { Presence } from "../domain/presence.ts";
import { type Quality, qualities } from "../domain/quality.ts";
import type { RobotId } from "../domain/robot.ts";
import {
  placeAt,
  qualityOf,
  type StationCandidate,
  type StationRobot,
  type StationSight,
  sightOf,
  unknownSight,
} from "../domain/station-sight.ts";
import { followVisits, noCounters, type StationVisits } from "../domain/station-visits.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createStationMemory } from "./station-memory.ts";

export interface StationViewParts {
  readonly stations: readonly { readonly name: string; readonly destinations: readonly string[] }[];
  /** What northbounds show without stations. */
  readonly state: CurrentState;
  /** Where the counters are kept. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of robots with that of stations, as northbounds show it. */
export interface StationView extends CurrentState {
  /** A batch of the state, with the stations that it changes. */
  withStations(batch: Batch): Batch;
  /** Sets the counters of a station to 0. Answers with what it shows now. */
  reset(station: string): Batch;
  /** Resolves when the counters are kept, or cannot be. */
  settled(): Promise<void>;
}

/** What was seen of a robot last. */
interface Seen {
  quality: Quality;
  missions: Observed<MissionQueue> | undefined;
  presence: Observed<Presence> | undefined;
  readonly conveyors: Map<number, Observed<Conveyor>>;
}

interface Station {
  readonly name: string;
  readonly destinations: readonly string[];
  /** Robots that are here, or are to come, or were when they were seen last. */
  readonly candidates: Map<RobotId, StationCandidate>;
  sight: StationSight;
  visits: StationVisits;
}

export function createStationView({ stations, state, file, clock, log }: StationViewParts): StationView {
  const memory = createStationMemory(file, clock.nowMs, log);
  const robots = new Map<RobotId, Seen>();
  const book = new Map(
    stations.map(({ name, destinations }): [string, Station] => {
      const visits = memory.load(name);
      return [name, { name, destinations, candidates: new Map(), sight: unknownSight, visits }];
    }),
  );
  let fleetQuality: Quality = "unknown";

  function robotOf(robotId: RobotId): StationRobot | undefined {
    const seen = robots.get(robotId);
    return seen && { ...seen, robotId, conveyors: [...seen.conveyors.values()] };
  }

  /** Whether the robots that may be at the station are others, or known otherwise. */
  function note({ candidates, destinations, visits }: Station, robot: StationRobot): boolean {
    const { robotId } = robot;
    const mayBeHere = candidates.has(robotId) || visits.visit?.robotId === robotId;
    // Most robots have nothing to do with most stations.
    if (!mayBeHere && !isBound(robot, destinations)) return false;
    const place = placeAt(destinations, robot);
    if (place.kind === "elsewhere") return candidates.delete(robotId) || mayBeHere;
    const before = candidates.get(robotId);
    candidates.set(robotId, { robot, place });
    return before === undefined || !isStillComing(before, { robot, place });
  }

  /** The change of a station that shows something else than before; null when it does not. */
  function refresh(station: Station): StateChange | null {
    const { sight, visits, candidates, destinations } = station;
    const shownBefore = visits.visit?.robotId ?? sight.here?.robotId ?? null;
    station.sight = sightOf([...candidates.values()], fleetQuality, shownBefore);
    const robot = visits.visit === null ? undefined : robotOf(visits.visit.robotId);
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

  function keep(): void {
    memory.keep(new Map(Array.from(book.values(), ({ name, visits }) => [name, visits])));
  }

  return {
    snapshot: () => [...state.snapshot(), ...Array.from(book.values(), changeOf)],
    current(change) {
      if (change.kind !== "station") return state.current(change);
      const station = book.get(change.station);
      const isSame =
        station?.sight === change.shown.sight && station.visits.counters === change.shown.counters;
      return station === undefined || isSame ? change : changeOf(station);
    },
    withStations(batch) {
      if (book.size === 0) return batch;
      const touched = Array.from(see(robots, batch.changes), robotOf).filter((robot) => robot !== undefined);
      if (touched.length === 0) return batch;
      const bestBefore = fleetQuality;
      fleetQuality = bestOf(robots);
      const fresh: StateChange[] = [];
      for (const station of book.values()) {
        let isOther = fleetQuality !== bestBefore;
        for (const robot of touched) isOther = note(station, robot) || isOther;
        const change = isOther ? refresh(station) : null;
        if (change !== null) fresh.push(change);
      }
      return fresh.length === 0 ? batch : { ...batch, changes: [...batch.changes, ...fresh] };
    },
    reset(name) {
      const station = book.get(name);
      if (station === undefined) return { changes: [], events: [] };
      station.visits = { ...station.visits, counters: noCounters(clock.nowMs()) };
      keep();
      return { changes: [changeOf(station)], events: [] };
    },
    settled: memory.settled,
  };
}

/** Whether a robot is on its way as it was before: then the station shows the same as before. */
function isStillComing(before: StationCandidate, now: StationCandidate): boolean {
  const [a, b] = [before.place, now.place];
  if (a.kind !== "coming" || b.kind !== "coming" || a.goalsBefore !== b.goalsBefore) return false;
  return qualityOf(before.robot) === qualityOf(now.robot);
}

/** Whether a robot was seen at one of the destinations, or has a mission with one of them. */
function isBound({ missions, presence }: StationRobot, destinations: readonly string[]): boolean {
  if (presence !== undefined && destinations.includes(presence.value.position)) return true;
  for (const { goals } of missions?.value.missions ?? []) {
    for (const goal of goals) {
      if (goal.kind === "destination" && destinations.includes(goal.destinationId)) return true;
    }
  }
  return false;
}

function changeOf({ name, sight, visits: { counters } }: Station): StateChange {
  return { kind: "station", station: name, shown: { sight, counters } };
}

/** Keeps what stations look at. Answers with the robots of which something is new. */
function see(robots: Map<RobotId, Seen>, changes: readonly StateChange[]): ReadonlySet<RobotId> {
  const touched = new Set<RobotId>();
  for (const change of changes) {
    switch (change.kind) {
      case "robot":
        seenOf(robots, change.robotId).quality = change.quality;
        break;
      case "mission":
        seenOf(robots, change.robotId).missions = change.observed;
        break;
      case "presence":
        seenOf(robots, change.robotId).presence = change.observed;
        break;
      case "conveyor":
        seenOf(robots, change.robotId).conveyors.set(change.observed.value.index, change.observed);
        break;
      default:
        continue;
    }
    touched.add(change.robotId);
  }
  return touched;
}

function seenOf(robots: Map<RobotId, Seen>, robotId: RobotId): Seen {
  let seen = robots.get(robotId);
  if (seen === undefined) {
    seen = { quality: "unknown", missions: undefined, presence: undefined, conveyors: new Map() };
    robots.set(robotId, seen);
  }
  return seen;
}

/** The quality of the robot that is known best. */
function bestOf(robots: ReadonlyMap<RobotId, Seen>): Quality {
  let best = qualities.length - 1;
  for (const { quality } of robots.values()) {
    best = Math.min(best, qualities.indexOf(quality));
    if (best === 0) break;
  }
  return qualities[best] ?? "unknown";
}
