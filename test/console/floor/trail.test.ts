import { describe, expect, it } from "vitest";
import { createTrail, MOST_PLACES } from "../../../src/console/floor/trail.ts";
import type { Moment } from "../../../src/console/trust/time-text.ts";

const at = (ms: number): Moment => ({ monotonicMs: 1_000 + ms, wallMs: 1e12 + ms });
const place = (x: number, y = 0) => ({ x, y, headingRadians: 1 });

function trailOf(...notes: ReadonlyArray<readonly [x: number, mapId: number, now: Moment]>) {
  const trail = createTrail();
  for (const [x, mapId, now] of notes) trail.note(place(x), mapId, now);
  return trail;
}

const xsOn = (mapId: number, trail: ReturnType<typeof createTrail>) =>
  trail.placesOn(mapId).map(({ x }) => x);

describe("the trail of a robot", () => {
  it("is empty before the first place", () => {
    expect(createTrail().placesOn(0)).toEqual([]);
  });

  it("has its places, the oldest first", () => {
    const trail = createTrail();
    trail.note(place(1, 5), 1, at(0));
    trail.note(place(-2.25, 7), 1, at(1_000));
    expect(trail.placesOn(1)).toEqual([
      { x: 1, y: 5, headingRadians: null },
      { x: -2.25, y: 7, headingRadians: null },
    ]);
  });

  it("has those of the last ten minutes", () => {
    const trail = trailOf([0, 1, at(0)], [1, 1, at(1_000)], [2, 1, at(600_000)]);
    expect(xsOn(1, trail)).toEqual([0, 1, 2]);
    trail.note(place(3), 1, at(600_500));
    expect(xsOn(1, trail)).toEqual([1, 2, 3]);
    trail.note(place(4), 1, at(9_000_000));
    expect(xsOn(1, trail)).toEqual([4]);
  });

  it("counts the time that the machine slept, which stops the monotonic clock", () => {
    const asleep = { monotonicMs: at(2_000).monotonicMs, wallMs: at(700_000).wallMs };
    expect(xsOn(1, trailOf([0, 1, at(0)], [1, 1, at(1_000)], [2, 1, asleep]))).toEqual([2]);
  });

  it("stays as it is when the user sets the clock back", () => {
    const setBack = { monotonicMs: at(2_000).monotonicMs, wallMs: at(-3_600_000).wallMs };
    expect(xsOn(1, trailOf([0, 1, at(0)], [1, 1, at(1_000)], [2, 1, setBack]))).toEqual([0, 1, 2]);
  });

  it("leaves out a step that is too short, until such steps have come far enough", () => {
    const trail = trailOf([0, 1, at(0)], [0.2, 1, at(1_000)], [0.4, 1, at(2_000)], [0.4, 1, at(3_000)]);
    expect(xsOn(1, trail)).toEqual([0, 0.4]);
  });

  it("keeps each map's places apart, and notes the same place on another map", () => {
    const trail = trailOf([0, 1, at(0)], [0, 2, at(1_000)], [1, 1, at(2_000)]);
    expect([1, 2, 3].map((mapId) => xsOn(mapId, trail))).toEqual([[0, 1], [0], []]);
  });

  it("keeps the newest places, however many come", () => {
    const trail = createTrail();
    for (let step = 0; step < 1_000; step += 1) trail.note(place(step), 1, at(step));
    const newest = Array.from({ length: MOST_PLACES }, (_, x) => 1_000 - MOST_PLACES + x);
    expect(xsOn(1, trail)).toEqual(newest);
  });
});
