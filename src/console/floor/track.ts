import { elapsedMs, type Moment } from "../trust/time-text.ts";

/** A position on a map, in the map's own unit. The service names none; robots of the simulator use metres. */
export interface Place {
  readonly x: number;
  readonly y: number;
  readonly headingRadians: number | null;
}

/** A robot's position in the online list. */
export interface Report {
  /** Identifies the record of the list: another text is another report. */
  readonly record: string;
  readonly mapId: number;
  readonly place: Place;
  readonly receivedAt: Moment;
}

/** The movement of a mark: from its position when the report came, to the reported one. */
export interface Track {
  readonly report: Report;
  readonly from: Place;
  /** 0: the mark moves to the report at once. */
  readonly durationMs: number;
}

/** The inputs for the movement of a mark. */
export interface Pace {
  readonly pollMs: number;
  /** How old the last position was when the report came. */
  readonly ageBeforeMs: number;
  /** The user's system asks for less motion. */
  readonly isMotionReduced: boolean;
}

/** A position that is older than this many polls may no longer be the robot's. */
export const POLLS_FORGIVEN = 2.5;
/** Faster than any robot of the fleet. */
const IMPOSSIBLE_UNITS_PER_SECOND = 5;

/** The track after another report. The same record with another value restarts no movement. */
export function followed(track: Track | null, report: Report, pace: Pace): Track {
  if (track === null) return { report, from: report.place, durationMs: 0 };
  if (track.report.record === report.record && track.report.mapId === report.mapId) return track;
  const from = placeAt(track, report.receivedAt);
  return isJump(track, report, from, pace)
    ? { report, from: report.place, durationMs: 0 }
    : { report, from, durationMs: pace.pollMs };
}

function isJump(track: Track, report: Report, from: Place, pace: Pace): boolean {
  const { pollMs, ageBeforeMs, isMotionReduced } = pace;
  if (isMotionReduced || track.report.mapId !== report.mapId) return true;
  return ageBeforeMs > POLLS_FORGIVEN * pollMs || isImpossible(from, report.place, pollMs);
}

function isImpossible(from: Place, to: Place, pollMs: number): boolean {
  return Math.hypot(to.x - from.x, to.y - from.y) > (IMPOSSIBLE_UNITS_PER_SECOND * pollMs) / 1_000;
}

/** The position of the mark at a moment: on the line to the last report, and never beyond it. */
export function placeAt({ report, from, durationMs }: Track, now: Moment): Place {
  const passedMs = elapsedMs(report.receivedAt, now);
  if (passedMs >= durationMs) return report.place;
  return between(from, report.place, passedMs / durationMs);
}

/** Whether the mark still moves at a moment. */
export function isMoving({ report, from, durationMs }: Track, now: Moment): boolean {
  return elapsedMs(report.receivedAt, now) < durationMs && !isSamePlace(from, report.place);
}

/** From the centre of a mark to its tip, which moves when the mark turns. */
const TIP_PIXELS = 12;

/** How fast a mark moves on the drawing: no part of it is faster. */
export function pixelsPerMs({ report: { place }, from, durationMs }: Track, pixelsPerUnit: number): number {
  const { headingRadians: start } = from;
  const turn = start === null || place.headingRadians === null ? 0 : shorterTurn(start, place.headingRadians);
  const way = Math.hypot(place.x - from.x, place.y - from.y) * pixelsPerUnit;
  return (way + Math.abs(turn) * TIP_PIXELS) / durationMs;
}

export function isSamePlace(a: Place, b: Place): boolean {
  return a.x === b.x && a.y === b.y && a.headingRadians === b.headingRadians;
}

function between(from: Place, to: Place, part: number): Place {
  return {
    x: mix(from.x, to.x, part),
    y: mix(from.y, to.y, part),
    headingRadians: turned(from.headingRadians, to.headingRadians, part),
  };
}

/** Never outside of the two, where rounding could put it. */
function mix(from: number, to: number, part: number): number {
  const value = from + (to - from) * part;
  return Math.min(Math.max(value, Math.min(from, to)), Math.max(from, to));
}

function turned(from: number | null, to: number | null, part: number): number | null {
  return from === null || to === null ? to : from + shorterTurn(from, to) * part;
}

/** The shorter way round. */
function shorterTurn(from: number, to: number): number {
  const turn = (to - from) % (2 * Math.PI);
  return ((2 * turn) % (2 * Math.PI)) - turn;
}
