import type { FleetView, PlaceAge, PlaceAges, RobotSummary } from "../contracts/fleet-view.ts";
import type { Batch } from "../contracts/link.ts";
import type { PublishedBefore } from "../contracts/published-before.ts";
import type { StateChange } from "../domain/change.ts";
import type { QualityTimes } from "../domain/quality.ts";
import type { RobotId } from "../domain/robot.ts";
import type { FleetUpdate } from "../domain/update.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createChangePublisher, robotChange } from "./change-publisher.ts";
import { currentChange } from "./current.ts";
import { createDraft, type Draft } from "./draft.ts";
import { createEventIds } from "./event-ids.ts";
import { createMapRegistry } from "./map-registry.ts";
import { createQualityReader, type LinkHealth, type QualityReader } from "./quality-reader.ts";
import { describeCached, type RobotEntry } from "./robot-entry.ts";
import { createRobotRegistry } from "./robot-registry.ts";
import { createRobotUpdates, type RobotUpdates } from "./robot-updates.ts";
import { createStreamRegistry } from "./stream-registry.ts";
import { createTaskChainRegistry } from "./task-chain-registry.ts";

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

  function onLink(state: "up" | "down", nowMs: number, draft: Draft): void {
    if (state === "up") {
      link.downSinceMs = null;
    } else {
      link.downSinceMs ??= nowMs;
      updates.doubtAll(nowMs);
      chains.doubt(nowMs);
    }
    republishAll(nowMs, draft);
  }

  function republishAll(nowMs: number, draft: Draft): void {
    for (const robot of robots.all()) publisher.republishRobot(robot, nowMs, draft);
    chains.republish(nowMs, draft.changes);
  }

  const summary = (robot: RobotEntry, nowMs: number): RobotSummary => ({
    robotId: robot.robotId,
    family: robot.family,
    quality: reader.ofRobot(robot, nowMs),
  });

  return {
    apply(update) {
      const nowMs = clock.monotonicMs();
      const draft = createDraft();
      switch (update.kind) {
        case "link":
          onLink(update.state, nowMs, draft);
          break;
        case "task_chain":
          chains.receive(update.chain, update.atMs, nowMs, draft.changes);
          break;
        case "map":
          maps.receive(update.mapId, update.map, draft.changes);
          break;
        default:
          updates.receive(update, nowMs, draft);
      }
      return draft;
    },
    tick() {
      const draft = createDraft();
      republishAll(clock.monotonicMs(), draft);
      return draft;
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

function knownCharges(
  robots: Iterable<RobotEntry>,
  reader: QualityReader,
  nowMs: number,
): ReadonlyMap<RobotId, number> {
  const found = new Map<RobotId, number>();
  for (const robot of robots) {
    const { received } = robot.battery;
    if (received === null || reader.ofCached(robot, robot.battery, nowMs) !== "good") continue;
    found.set(robot.robotId, received.value.chargePercent);
  }
  return found;
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
