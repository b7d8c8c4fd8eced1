import type { PublishedBefore } from "../contracts/fleet-view.ts";
import { cutForgivenMs } from "../domain/detection.ts";
import { earlier, type Observed, type QualityTimes } from "../domain/observed.ts";
import type { Conveyor, RobotId } from "../domain/robot.ts";
import {
  type FleetUpdate,
  impossibleBattery,
  impossibleConveyors,
  impossibleQueue,
} from "../domain/update.ts";
import type { Log } from "../platform/log.ts";
import type { ChangePublisher, OpenBatch } from "./change-publisher.ts";
import type {
  CachedConveyors,
  CachedValue,
  RobotEntry,
  RobotRegistry,
  StreamRegistry,
} from "./robot-entry.ts";
import { batteryEvents, conveyorEvents, type EventIds, missionEvents } from "./robot-events.ts";
import { createRosterUpdates, type RosterUpdates } from "./roster-updates.ts";

/**
 * More than any cart has, including conveyors that are gone: each keeps its tags and topics. Those beyond it
 * are refused, or a broken service could fill the memory.
 */
const MOST_CONVEYORS = 64;

/** Updates that concern robots and their streams. */
type RobotUpdate = Exclude<FleetUpdate, { kind: "link" | "task_chain" | "map" }>;
type UpdateOf<Kind extends RobotUpdate["kind"]> = Extract<RobotUpdate, { kind: Kind }>;

/** Applies the updates of robots and their streams. */
export interface RobotUpdates {
  receive(update: RobotUpdate, nowMs: number, batch: OpenBatch): void;
  /** From now on, changes of any value may have been missed. */
  doubtAll(nowMs: number): void;
  conveyorsRefused(): number;
  /** How many messages had a value that cannot be true. */
  impossible(): number;
  readonly rosters: Omit<RosterUpdates, "receive">;
}

interface RobotUpdateDependencies {
  readonly robots: RobotRegistry;
  readonly streams: StreamRegistry;
  readonly publisher: ChangePublisher;
  readonly eventIds: EventIds;
  readonly times: QualityTimes;
  readonly publishedBefore: PublishedBefore | null | undefined;
  readonly log: Log;
}

export function createRobotUpdates({
  robots,
  streams,
  publisher,
  eventIds,
  times,
  publishedBefore,
  log,
}: RobotUpdateDependencies): RobotUpdates {
  const entryOf = (robotId: string, nowMs: number, batch: OpenBatch) =>
    robots.findOrAdd(robotId, (robot) => publisher.publishRobot(robot, nowMs, batch));
  const rosters = createRosterUpdates(robots, publisher, entryOf);
  let conveyorsRefused = 0;
  const impossible = createImpossibleWatch(log);

  function onMission(update: UpdateOf<"mission">, nowMs: number, batch: OpenBatch): void {
    const robot = entryOf(update.robotId, nowMs, batch);
    if (robot === undefined) return;
    const cached = robot.mission;
    const before = cached.received?.value ?? null;
    streams.confirm(robot, cached, update.stream, nowMs);
    cached.received = { value: update.queue, stamp: update.stamp };
    impossible.evaluate(robot, cached, impossibleQueue(update.queue), nowMs);
    publisher.publishValue(robot, cached, nowMs, batch);
    const published = before === null ? (publishedBefore?.missions(update.robotId) ?? null) : null;
    missionEvents(eventIds, update, { before, published }, batch.events);
  }

  function onBattery(update: UpdateOf<"battery">, nowMs: number, batch: OpenBatch): void {
    const robot = entryOf(update.robotId, nowMs, batch);
    if (robot === undefined) return;
    batteryEvents(eventIds, update, robot.battery.received?.value ?? null, batch.events);
    streams.confirm(robot, robot.battery, update.stream, nowMs);
    robot.battery.received = { value: update.battery, stamp: update.stamp };
    impossible.evaluate(robot, robot.battery, impossibleBattery(update.battery), nowMs);
    publisher.publishValue(robot, robot.battery, nowMs, batch);
  }

  function onConveyors(update: UpdateOf<"conveyors">, nowMs: number, batch: OpenBatch): void {
    const robot = entryOf(update.robotId, nowMs, batch);
    if (robot === undefined) return;
    const cached = robot.conveyors;
    const before = cached.received?.value ?? null;
    const value = listedConveyors(cached, update.conveyors);
    conveyorsRefused += update.conveyors.length - value.length;
    if (before !== null) cached.gone = goneConveyors(cached, value);
    streams.confirm(robot, cached, update.stream, nowMs);
    cached.received = { value, stamp: update.stamp };
    impossible.evaluate(robot, cached, impossibleConveyors(value), nowMs);
    publisher.publishValue(robot, cached, nowMs, batch);
    const published = before === null ? (publishedBefore?.conveyors(update.robotId) ?? null) : null;
    conveyorEvents(eventIds, { ...update, before, published, after: value }, batch.events);
  }

  /** A repeat proves the held value. It is published only if that makes it good again. */
  function onConfirmed(update: UpdateOf<"confirmed">, nowMs: number, batch: OpenBatch): void {
    const robot = robots.find(update.robotId);
    const cached = robot?.[update.aspect];
    if (robot === undefined || cached === undefined || cached.received === null) return;
    streams.confirm(robot, cached, update.stream, nowMs);
    publisher.republishValue(robot, cached, nowMs, batch);
  }

  function onRobot(update: UpdateOf<"robot">, nowMs: number, batch: OpenBatch): void {
    const robot = entryOf(update.robotId, nowMs, batch);
    if (robot === undefined || update.family === "unknown" || update.family === robot.family) return;
    robot.family = update.family;
    publisher.publishRobot(robot, nowMs, batch);
  }

  function onStream(update: UpdateOf<"stream">, nowMs: number, batch: OpenBatch): void {
    const stream = streams.find(update.stream);
    if (stream === undefined) return;
    const wasSilent = nowMs - stream.provenAtMs > times.streamSilenceMs;
    if (update.state === "live") stream.provenAtMs = nowMs;
    if (update.state === "live" && !wasSilent) return;
    for (const [cached, robot] of stream.values) {
      // A new call of the same stream does not undo this: only the robot's own snapshot does.
      if (update.state !== "live") doubt(cached, nowMs + forgivenMs(update.state, times));
      publisher.republishValue(robot, cached, nowMs, batch);
    }
  }

  return {
    receive(update, nowMs, batch) {
      switch (update.kind) {
        case "mission":
          return onMission(update, nowMs, batch);
        case "battery":
          return onBattery(update, nowMs, batch);
        case "conveyors":
          return onConveyors(update, nowMs, batch);
        case "confirmed":
          return onConfirmed(update, nowMs, batch);
        case "robot":
          return onRobot(update, nowMs, batch);
        case "roster":
          return rosters.receive(update, nowMs, batch);
        case "stream":
          return onStream(update, nowMs, batch);
      }
    },
    doubtAll(nowMs) {
      for (const robot of robots.all()) doubtRobot(robot, nowMs);
    },
    conveyorsRefused: () => conveyorsRefused,
    impossible: impossible.count,
    rosters,
  };
}

function forgivenMs(state: "cut" | "lost", { streamSilenceMs }: QualityTimes): number {
  return state === "cut" ? cutForgivenMs(streamSilenceMs) : 0;
}

function doubtRobot({ mission, battery, conveyors, presence }: RobotEntry, fromMs: number): void {
  for (const cached of [mission, battery, conveyors, presence]) {
    if (cached.received !== null) doubt(cached, fromMs);
  }
}

function doubt(cached: CachedValue, fromMs: number): void {
  cached.doubtedFromMs = earlier(cached.doubtedFromMs, fromMs);
}

/** The conveyors of a message, up to the limit of a cart. */
function listedConveyors(
  { received, gone }: CachedConveyors,
  conveyors: readonly Conveyor[],
): readonly Conveyor[] {
  const earlier = [...(received?.value ?? []), ...gone.map((observed) => observed.value)];
  const known = new Set(earlier.map(({ index }) => index));
  return conveyors.filter(({ index }) => {
    if (known.size < MOST_CONVEYORS) known.add(index);
    return known.has(index);
  });
}

/** The conveyors that were listed until now, or were gone before: nothing is known of them any more. */
function goneConveyors(cached: CachedConveyors, listed: readonly Conveyor[]): readonly Observed<Conveyor>[] {
  if (cached.received === null) return cached.gone;
  const { value, stamp } = cached.received;
  const isListed = (index: number) => listed.some((conveyor) => conveyor.index === index);
  const left = value.filter((conveyor) => !isListed(conveyor.index));
  const old = cached.gone.filter((observed) => !isListed(observed.value.index));
  if (left.length === 0 && old.length === cached.gone.length) return cached.gone;
  const now = left.map(
    (conveyor): Observed<Conveyor> => ({ value: conveyor, stamp, quality: "lost", isGone: true }),
  );
  return [...old, ...now];
}

/** Keeps since when a value cannot be true, and logs it. */
interface ImpossibleWatch {
  /** Handles a message; `problem` says what of it cannot be true, or is null. */
  evaluate(robot: RobotEntry, cached: CachedValue, problem: string | null, nowMs: number): void;
  /** How many messages could not be true. */
  count(): number;
}

function createImpossibleWatch(log: Log): ImpossibleWatch {
  let count = 0;
  /** One line for a robot: a service that sends nonsense now and then must not fill the log. */
  const reported = new Set<RobotId>();
  return {
    evaluate({ robotId }, cached, problem, nowMs) {
      if (problem === null) {
        cached.impossibleSinceMs = null;
        return;
      }
      count += 1;
      cached.impossibleSinceMs ??= nowMs;
      if (reported.has(robotId)) return;
      reported.add(robotId);
      log.warn({ robotId, problem }, "a robot's value cannot be true: it is shown as stale");
    },
    count: () => count,
  };
}
