import type { HourName } from "../contracts/trends.ts";
import { QUALITY_TICK_MS } from "../domain/detection.ts";
import { currentStateNumber } from "../domain/mission.ts";
import { earlier, type Quality, type QualityTimes, qualityAt, worse } from "../domain/observed.ts";
import { coordinateOf, type RobotId } from "../domain/robot.ts";
import { type Clock, every } from "../platform/clock.ts";
import { aborted, type Component } from "../platform/component.ts";
import { createWatchdog } from "../platform/liveness.ts";
import type { CachedValue, RobotEntry } from "./robot-entry.ts";

/** The session to the service as a whole. Monotonic milliseconds. */
export interface LinkHealth {
  downSinceMs: number | null;
}

/** Computes present qualities from the health of the sources. */
export interface QualityReader {
  ofCached(robot: RobotEntry, cached: CachedValue, nowMs: number): Quality;
  /** The worst quality of the robot's streamed values; `unknown` while it has none. */
  ofRobot(robot: RobotEntry, nowMs: number): Quality;
  /** The quality of a value that only another poll confirms. */
  ofPolled(confirmedAtMs: number, doubtedSinceMs: number | null, nowMs: number): Quality;
}

/** Computes qualities with these times; `link` is read at every call. */
export function createQualityReader(times: QualityTimes, link: LinkHealth): QualityReader {
  // One record, used again and again: this runs for every message.
  const source = {
    confirmedAtMs: null as number | null,
    linkDownSinceMs: null as number | null,
    streamProvenAtMs: 0,
    streamLostFromMs: null as number | null,
    absentSinceMs: null as number | null,
  };

  function ofCached(robot: RobotEntry, cached: CachedValue, nowMs: number): Quality {
    if (cached.received === null || cached.stream === null) return "unknown";
    source.confirmedAtMs = cached.confirmedAtMs;
    source.linkDownSinceMs = link.downSinceMs;
    source.streamProvenAtMs = cached.stream.provenAtMs;
    source.streamLostFromMs = earlier(cached.doubtedFromMs, cached.impossibleSinceMs);
    source.absentSinceMs = robot.absentSinceMs;
    return qualityAt(source, times, nowMs);
  }

  /** A value that never came does not count. */
  function worseOf(
    worst: Quality | null,
    robot: RobotEntry,
    cached: CachedValue,
    nowMs: number,
  ): Quality | null {
    if (cached.received === null) return worst;
    const quality = ofCached(robot, cached, nowMs);
    return worst === null ? quality : worse(worst, quality);
  }

  return {
    ofCached,
    ofRobot(robot, nowMs) {
      const mission = worseOf(null, robot, robot.mission, nowMs);
      const battery = worseOf(mission, robot, robot.battery, nowMs);
      return worseOf(battery, robot, robot.conveyors, nowMs) ?? "unknown";
    },
    ofPolled(confirmedAtMs, doubtedSinceMs, nowMs) {
      source.confirmedAtMs = confirmedAtMs;
      source.linkDownSinceMs = link.downSinceMs;
      source.streamProvenAtMs = confirmedAtMs;
      source.streamLostFromMs = doubtedSinceMs;
      source.absentSinceMs = null;
      return qualityAt(source, times, nowMs);
    },
  };
}

/** Sixty ticks. */
const HANG_MS = 30_000;

/** Quality must be polled, because silence changes it; otherwise stale values would stay good. */
export function createQualityTicker(clock: Clock, tick: () => void): Component {
  const watchdog = createWatchdog(HANG_MS, clock);
  return {
    name: "quality",
    health: () => ({ state: "up" }),
    hang: watchdog.hang,
    async run(signal, ready) {
      watchdog.touch();
      every(clock, QUALITY_TICK_MS, signal, () => {
        tick();
        watchdog.touch();
      });
      ready();
      await aborted(signal);
      watchdog.end();
    },
  };
}

/** A robot and its values. Null: that one is not known to be true. */
export type KnownOfRobot = readonly [RobotId, Readonly<Record<HourName, number | null>>];

/** The charge, in percent, of each robot whose charge is known to be true now. */
export function knownCharges(
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

/** Of each robot, the values that are known to be true now. */
export function* knownValues(
  robots: Iterable<RobotEntry>,
  reader: QualityReader,
  nowMs: number,
): Iterable<KnownOfRobot> {
  for (const robot of robots) {
    const { mission, presence } = robot;
    const queue = reader.ofCached(robot, mission, nowMs) === "good" ? mission.received?.value : undefined;
    const place = reader.ofCached(robot, presence, nowMs) === "good" ? presence.received?.value : undefined;
    const coordinate = (name: "x" | "y" | "theta") =>
      place === undefined ? null : coordinateOf(place, name);
    yield [
      robot.robotId,
      {
        missionState: queue === undefined ? null : currentStateNumber(queue),
        mapId: place?.mapId ?? null,
        ...{ x: coordinate("x"), y: coordinate("y"), heading: coordinate("theta") },
      },
    ];
  }
}
