import { elapsedMs, type Moment } from "../trust/time-text.ts";
import type { Place } from "./track.ts";

/**
 * The positions of a robot in the last ten minutes, because it may be chosen later. Its memory is allocated
 * at the first position and then kept: with a thousand robots, objects for each step would fill the page's
 * heap.
 */
export interface Trail {
  /** Adds a position, unless it equals the last one or is too near to it. */
  note(place: Place, mapId: number, now: Moment): void;
  /** The positions on a map, the oldest first. */
  placesOn(mapId: number): Place[];
}

const TRAIL_MS = 600_000;
export const MOST_PLACES = 120;
/** A shorter step is not kept, in the map's unit. */
const SHORTEST_STEP = 0.3;

/** The numbers of a position: x, y, map, and its time by the trail's own clock. */
const NUMBERS = 4;
const [X, Y, MAP, HEARD] = [0, 1, 2, 3];

export function createTrail(): Trail {
  let ring: Float64Array | null = null;
  let [first, count] = [0, 0];
  /** The time since the first position, including a sleep of the machine. */
  let clockMs = 0;
  let before: Moment | null = null;

  /** A number of a position: 0 is the oldest one. */
  const read = (at: number, number: number) => ring?.[((first + at) % MOST_PLACES) * NUMBERS + number] ?? 0;

  function drop(): void {
    first = (first + 1) % MOST_PLACES;
    count -= 1;
  }

  function isNearLast({ x, y }: Place, mapId: number): boolean {
    const last = count - 1;
    if (count === 0 || read(last, MAP) !== mapId) return false;
    return Math.hypot(read(last, X) - x, read(last, Y) - y) < SHORTEST_STEP;
  }

  return {
    note(place, mapId, now) {
      if (before !== null) clockMs += elapsedMs(before, now);
      before = now;
      if (isNearLast(place, mapId)) return;
      while (count > 0 && clockMs - read(0, HEARD) > TRAIL_MS) drop();
      if (count === MOST_PLACES) drop();
      ring ??= new Float64Array(MOST_PLACES * NUMBERS);
      const at = ((first + count) % MOST_PLACES) * NUMBERS;
      ring[at + X] = place.x;
      ring[at + Y] = place.y;
      ring[at + MAP] = mapId;
      ring[at + HEARD] = clockMs;
      count += 1;
    },
    placesOn(mapId) {
      return Array.from({ length: count }, (_, at) => at)
        .filter((at) => read(at, MAP) === mapId)
        .map((at) => ({ x: read(at, X), y: read(at, Y), headingRadians: null }));
    },
  };
}
