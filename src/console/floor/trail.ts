import { elapsedMs, type Moment } from "../trust/moment.ts";
import type { Place } from "./track.ts";

/**
 * Where a robot was in the last ten minutes, for it may be chosen later. Its memory is taken at the first
 * place and then kept: with a thousand robots, objects for each step would fill the page's heap.
 */
export interface Trail {
  /** Notes a place, unless it is the one before or too near to it. */
  note(place: Place, mapId: number, now: Moment): void;
  /** The places on a map, the oldest first. */
  placesOn(mapId: number): Place[];
}

const TRAIL_MS = 600_000;
export const MOST_PLACES = 120;
/** A step that is shorter leaves no trace, in the map's unit. */
const SHORTEST_STEP = 0.3;

/** The numbers of a place: x, y, map, and when it was heard by the trail's own clock. */
const NUMBERS = 4;
const [X, Y, MAP, HEARD] = [0, 1, 2, 3];

export function createTrail(): Trail {
  let ring: Float64Array | null = null;
  let [first, count] = [0, 0];
  /** The time since the first place; it counts a sleep of the machine too. */
  let clockMs = 0;
  let before: Moment | null = null;

  /** A number of a place: 0 is the oldest place. */
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
