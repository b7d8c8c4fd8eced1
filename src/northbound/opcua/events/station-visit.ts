import type { VisibleStation } from "../../../domain/station-visits.ts";
import type { visitNames } from "../model/events.ts";

/** What a robot did at a station, between two states of the station. */
export interface StationVisit {
  readonly robotId: string;
  readonly visit: Exclude<(typeof visitNames)[number], "NONE">;
  /** Null: the robot has not left, or its visit was not seen whole. */
  readonly waitingSeconds: number | null;
  readonly cycleSeconds: number | null;
}

/**
 * The visits that have begun or ended; the earlier first.
 *
 * @param before null: the station was not seen before
 */
export function visitsBetween(before: VisibleStation | null, after: VisibleStation): readonly StationVisit[] {
  const [wasHere, isHere] = [before?.sight.here ?? null, after.sight.here];
  if (wasHere?.robotId === isHere?.robotId) return [];
  return [
    ...(before === null || wasHere === null ? [] : [ended(wasHere.robotId, before.counters, after.counters)]),
    ...(isHere === null ? [] : [{ robotId: isHere.robotId, visit: "ARRIVED", ...noTimes } as const]),
  ];
}

const noTimes = { waitingSeconds: null, cycleSeconds: null } as const;
type Counters = VisibleStation["counters"];

function ended(robotId: string, before: Counters, after: Counters): StationVisit {
  if (after.aborted > before.aborted) return { robotId, visit: "ABORTED", ...noTimes };
  const isCounted = after.cycles > before.cycles;
  const seconds = (ms: number) => (isCounted ? ms / 1_000 : null);
  const waitingSeconds = seconds(after.waitingLastMs);
  return { robotId, visit: "LEFT", waitingSeconds, cycleSeconds: seconds(after.cycleLastMs) };
}
