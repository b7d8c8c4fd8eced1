import type {
  FleetView,
  PlaceAge,
  PlaceAges,
  PublishedBefore,
  RobotSummary,
} from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { StateChange } from "../domain/change.ts";
import type { Observed, Quality, QualityTimes, Stamp } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";
import type { FleetMap, FleetUpdate } from "../domain/update.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createChangePublisher, createOpenBatch, type OpenBatch, robotChange } from "./change-publisher.ts";
import {
  createQualityReader,
  type KnownOfRobot,
  knownCharges,
  knownValues,
  type LinkHealth,
  type QualityReader,
} from "./quality-reader.ts";
import { createRobotRegistry, createStreamRegistry, describeCached, type RobotEntry } from "./robot-entry.ts";
import { createEventIds } from "./robot-events.ts";
import { createRobotUpdates, type RobotUpdates } from "./robot-updates.ts";
import { createTaskChainRegistry, type TaskChainRegistry } from "./task-chain-registry.ts";

/** The options of the fleet state. */
export interface FleetStateOptions {
  readonly times: QualityTimes;
  /** Robots beyond these are refused, counted and logged. */
  readonly maxRobots: number;
  /** Beyond this number, the oldest task chains are evicted, finished ones first. */
  readonly maxTaskChains: number;
  /** Names this run of the gateway; event ids are unique within it. */
  readonly sessionId: string;
  /** The last published states of earlier runs; absent or null: nothing is known of them. */
  readonly publishedBefore?: PublishedBefore | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of the fleet: it takes updates, and returns the changes to publish. */
export interface FleetState extends FleetView, PlaceAges {
  /** Applies one update and returns its changes. Never throws on what a service sends. */
  apply(update: FleetUpdate): Batch;
  /** The changes by time alone since the last call. Call it about twice a second. */
  tick(): Batch;
  /** The robot with its present quality; undefined: it was never seen. */
  robot(robotId: RobotId): RobotSummary | undefined;
  /** The newest value of the key of `change`: the same object if nothing is different. */
  current(change: StateChange): StateChange;
  /** The charge, in percent, of each robot whose charge is known to be true now. */
  charges(): ReadonlyMap<RobotId, number>;
  /** Of each robot, the values that are known to be true now; null: that one is not. */
  known(): Iterable<KnownOfRobot>;
  figures(): Readonly<Record<string, number>>;
}

/** The session keeps as many on disk. */
const MOST_MAPS = 50;

/**
 * Holds the last value of everything, and evaluates its quality when it is read.
 * Ages are measured on the monotonic clock from the moment an update is applied, so a wall
 * clock that is set can neither revive a dead value nor kill a live one.
 */
export function createFleetState({
  times,
  maxRobots,
  maxTaskChains,
  sessionId,
  publishedBefore,
  clock,
  log,
}: FleetStateOptions): FleetState {
  const link: LinkHealth = { downSinceMs: null };
  const reader = createQualityReader(times, link);
  const publisher = createChangePublisher(reader);
  const robots = createRobotRegistry(maxRobots, log);
  const streams = createStreamRegistry();
  const chains = createTaskChainRegistry(maxTaskChains, reader);
  const maps = createMapRegistry(MOST_MAPS);
  const eventIds = createEventIds(sessionId);
  const updates = createRobotUpdates({ robots, streams, publisher, eventIds, times, publishedBefore, log });

  function onLink(state: "up" | "down", nowMs: number, batch: OpenBatch): void {
    if (state === "up") {
      link.downSinceMs = null;
    } else {
      link.downSinceMs ??= nowMs;
      updates.doubtAll(nowMs);
      chains.doubt(nowMs);
    }
    republishAll(nowMs, batch);
  }

  function republishAll(nowMs: number, batch: OpenBatch): void {
    for (const robot of robots.all()) publisher.republishRobot(robot, nowMs, batch);
    chains.republish(nowMs, batch.changes);
  }

  const summary = (robot: RobotEntry, nowMs: number): RobotSummary => ({
    robotId: robot.robotId,
    family: robot.family,
    quality: reader.ofRobot(robot, nowMs),
  });

  return {
    apply(update) {
      const nowMs = clock.monotonicMs();
      const batch = createOpenBatch();
      switch (update.kind) {
        case "link":
          onLink(update.state, nowMs, batch);
          break;
        case "task_chain":
          chains.receive(update.chain, update.atMs, nowMs, batch.changes);
          break;
        case "map":
          maps.receive(update.mapId, update.map, batch.changes);
          break;
        default:
          updates.receive(update, nowMs, batch);
      }
      return batch;
    },
    tick() {
      const batch = createOpenBatch();
      republishAll(clock.monotonicMs(), batch);
      return batch;
    },
    robots() {
      const nowMs = clock.monotonicMs();
      return Array.from(robots.all(), (robot) => summary(robot, nowMs));
    },
    robot(robotId) {
      const robot = robots.find(robotId);
      return robot === undefined ? undefined : summary(robot, clock.monotonicMs());
    },
    listAgeMs() {
      const listedAtMs = updates.rosters.listedAtMs();
      return listedAtMs === null ? null : clock.monotonicMs() - listedAtMs;
    },
    placeAge: (robotId) => placeAge(robots.find(robotId), updates.rosters, clock.monotonicMs()),
    isListed: (robotId) => isListed(robots.find(robotId), updates.rosters),
    snapshot() {
      const nowMs = clock.monotonicMs();
      const changes: StateChange[] = [];
      for (const robot of robots.all()) {
        changes.push(robotChange(robot, reader.ofRobot(robot, nowMs)));
        for (const cached of [robot.mission, robot.battery, robot.conveyors, robot.presence]) {
          describeCached(robot.robotId, cached, reader.ofCached(robot, cached, nowMs), changes);
        }
      }
      chains.describe(nowMs, changes);
      maps.describe(changes);
      return changes;
    },
    current(change) {
      if (change.kind === "map") return maps.current(change.mapId) ?? change;
      const robot = "robotId" in change ? robots.find(change.robotId) : undefined;
      return currentChange(change, robot, chains, reader, clock.monotonicMs());
    },
    charges: () => knownCharges(robots.all(), reader, clock.monotonicMs()),
    known: () => knownValues(robots.all(), reader, clock.monotonicMs()),
    figures: () => ({
      robots: robots.size,
      robotsGood: countGood(robots.all()),
      streams: streams.size,
      taskChains: chains.size,
      taskChainsEvicted: chains.evicted,
      eventsRefused: robots.refusals,
      conveyorsRefused: updates.conveyorsRefused(),
      valuesImpossible: updates.impossible(),
    }),
  };
}

function isListed(robot: RobotEntry | undefined, { hasPlace }: RobotUpdates["rosters"]): boolean {
  return robot !== undefined && hasPlace(robot);
}

/** Null: no online list had the robot. */
function placeAge(
  robot: RobotEntry | undefined,
  { hasPlace }: RobotUpdates["rosters"],
  nowMs: number,
): PlaceAge | null {
  const confirmedAtMs = robot?.presence.confirmedAtMs ?? null;
  if (robot === undefined || confirmedAtMs === null) return null;
  return { ageMs: nowMs - confirmedAtMs, isListed: hasPlace(robot) };
}

/** By the quality that was published last: at most a tick old. */
function countGood(robots: Iterable<RobotEntry>): number {
  let good = 0;
  for (const robot of robots) if (robot.published === "good") good += 1;
  return good;
}

/**
 * The newest value of the key of `change`, with its quality at `nowMs`. The very same object if nothing is
 * different, which is nearly always.
 */
function currentChange(
  change: Exclude<StateChange, { kind: "map" }>,
  robot: RobotEntry | undefined,
  chains: TaskChainRegistry,
  reader: QualityReader,
  nowMs: number,
): StateChange {
  // Those that the stages behind the fleet state make, and ends.
  if (change.kind === "hold" || change.kind === "hold_all" || change.kind === "station") return change;
  if (change.kind === "robot_alarms" || change.kind === "station_alarms" || change.kind === "alarms")
    return change;
  if (change.kind === "task_chain_evicted" || change.kind === "station_removed") return change;
  if (change.kind === "task_chain") return chains.current(change.chainId, nowMs) ?? change;
  if (robot === undefined) return change;
  const { mission, battery, presence } = robot;
  switch (change.kind) {
    case "robot": {
      const quality = reader.ofRobot(robot, nowMs);
      return quality === change.quality && robot.family === change.family
        ? change
        : robotChange(robot, quality);
    }
    case "mission":
      return refreshed(change, mission.received, reader.ofCached(robot, mission, nowMs));
    case "battery":
      return refreshed(change, battery.received, reader.ofCached(robot, battery, nowMs));
    case "presence":
      return refreshed(change, presence.received, reader.ofCached(robot, presence, nowMs));
    case "conveyor":
      return currentConveyor(change, robot, reader, nowMs);
  }
}

function currentConveyor(
  change: Extract<StateChange, { kind: "conveyor" }>,
  robot: RobotEntry,
  reader: QualityReader,
  nowMs: number,
): StateChange {
  const { received, gone } = robot.conveyors;
  const { index } = change.observed.value;
  const value = received?.value.find((conveyor) => conveyor.index === index);
  if (received === null || value === undefined) {
    const observed = gone.find((left) => left.value.index === index);
    return observed === undefined ? change : { ...change, observed };
  }
  const quality = reader.ofCached(robot, robot.conveyors, nowMs);
  return refreshed(change, { value, stamp: received.stamp }, quality);
}

function refreshed<T, Change extends { readonly observed: Observed<T> }>(
  change: Change,
  received: { readonly value: T; readonly stamp: Stamp } | null,
  quality: Quality,
): Change {
  if (received === null) return change;
  const { observed } = change;
  const { value, stamp } = received;
  const isSame = value === observed.value && stamp === observed.stamp && quality === observed.quality;
  return isSame ? change : { ...change, observed: { value, stamp, quality } };
}

/** The maps from the answers of the service. */
export interface MapRegistry {
  /** Null: the service no longer has the map. */
  receive(mapId: number, map: FleetMap | null, changes: StateChange[]): void;
  describe(changes: StateChange[]): void;
  current(mapId: number): StateChange | undefined;
}

/** Keeps the first `limit` maps. A map that is gone keeps its entry, so that its end can be published. */
function createMapRegistry(limit: number): MapRegistry {
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
