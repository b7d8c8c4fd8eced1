import type { RobotId } from "./robot.ts";
import { qualityOf, type StationCandidate, type StationSight } from "./station-sight.ts";

/** What a station has counted since it was reset. Times in milliseconds. */
export interface StationCounters {
  /** Wall time of the reset. */
  readonly sinceMs: number;
  /** Visits whose arrival and departure were seen. */
  readonly cycles: number;
  /** Visits that ended in another way. */
  readonly aborted: number;
  /** From the arrival until a conveyor of the robot turned, or until it left. */
  readonly waitingLastMs: number;
  readonly waitingTotalMs: number;
  /** From the arrival until it left. */
  readonly cycleLastMs: number;
  readonly cycleTotalMs: number;
}

/** A robot stands at the station. Times are monotonic. */
export interface Visit {
  readonly robotId: RobotId;
  readonly beganAtMs: number;
  readonly rolledAtMs: number | null;
  /** Whether the robot was seen here last; false while it is out of sight. */
  readonly isSeen: boolean;
}

/** A station's counters, and the current visit, which they do not count yet. */
export interface StationVisits {
  readonly visit: Visit | null;
  readonly counters: StationCounters;
}

/** What a station publishes: its robots, and its counters. */
export interface VisibleStation {
  readonly sight: StationSight;
  readonly counters: StationCounters;
}

export function noCounters(sinceMs: number): StationCounters {
  const times = { waitingLastMs: 0, waitingTotalMs: 0, cycleLastMs: 0, cycleTotalMs: 0 };
  return { sinceMs, cycles: 0, aborted: 0, ...times };
}

/**
 * Counts the visits of the robot that the station shows.
 *
 * - A visit is a cycle if the robot was seen here, and then seen to have left.
 * - It is aborted if the robot is out of sight, is elsewhere when it is seen again, or has left its mission
 *   canceled or failed.
 *
 * @param visitor the robot of the visit, as it is known now; undefined: it is not known any more
 */
export function followVisits(
  { visit, counters }: StationVisits,
  sight: StationSight,
  visitor: StationCandidate | undefined,
  nowMs: number,
): StationVisits {
  if (visit === null) return { visit: begun(sight, nowMs), counters };
  const quality = visitor === undefined ? "unknown" : qualityOf(visitor.robot);
  if (quality === "lost" || quality === "unknown" || visitor === undefined) {
    return { visit: begun(sight, nowMs), counters: aborted(counters) };
  }
  if (quality !== "good") return { visit: { ...visit, isSeen: false }, counters };
  const { place } = visitor;
  if (place.kind === "here") {
    const isRolling = sight.here?.robotId === visit.robotId && sight.conveyors.some((each) => each.isRolling);
    const rolledAtMs = visit.rolledAtMs ?? (isRolling ? nowMs : null);
    return { visit: { ...visit, rolledAtMs, isSeen: true }, counters };
  }
  const isBroken = !visit.isSeen || (place.kind === "elsewhere" && place.isBroken);
  return {
    visit: begun(sight, nowMs),
    counters: isBroken ? aborted(counters) : cycled(counters, visit, nowMs),
  };
}

function begun({ here, conveyors }: StationSight, nowMs: number): Visit | null {
  if (here === null) return null;
  const rolledAtMs = conveyors.some(({ isRolling }) => isRolling) ? nowMs : null;
  return { robotId: here.robotId, beganAtMs: nowMs, rolledAtMs, isSeen: true };
}

/** Counts an aborted visit, also one that a stop of the gateway has cut off. */
export function aborted(counters: StationCounters): StationCounters {
  return { ...counters, aborted: counters.aborted + 1 };
}

function cycled(counters: StationCounters, { beganAtMs, rolledAtMs }: Visit, nowMs: number): StationCounters {
  const waitingLastMs = (rolledAtMs ?? nowMs) - beganAtMs;
  const cycleLastMs = nowMs - beganAtMs;
  return {
    ...counters,
    cycles: counters.cycles + 1,
    waitingLastMs,
    waitingTotalMs: counters.waitingTotalMs + waitingLastMs,
    cycleLastMs,
    cycleTotalMs: counters.cycleTotalMs + cycleLastMs,
  };
}
