import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { followed, isMoving, placeAt, type Track } from "../../../src/console/floor/track.ts";
import type { Moment } from "../../../src/console/trust/time-text.ts";
import { heardReports, later, trackOf } from "./floor-arbitraries.ts";

const start: Moment = { monotonicMs: 1_000, wallMs: 1e12 };
const at = (ms: number): Moment => ({ monotonicMs: 1_000 + ms, wallMs: 1e12 + ms });
const pace = { pollMs: 1_000, ageBeforeMs: 0, isMotionReduced: false };

function report(record: string, x: number, receivedAt: Moment, mapId = 1) {
  return { record, mapId, place: { x, y: 0, headingRadians: 0 }, receivedAt };
}

function twoReports(change: Partial<typeof pace> = {}, x = 2, mapId = 1): Track {
  const first = followed(null, report("a", 0, start), pace);
  return followed(first, report("b", x, at(1_000), mapId), { ...pace, ...change });
}

describe("a mark", () => {
  it("is at its first report at once", () => {
    const track = followed(null, report("a", 3, start), pace);
    expect(placeAt(track, start).x).toBe(3);
    expect(isMoving(track, start)).toBe(false);
  });

  it("moves from report to report within one poll, and stays there", () => {
    const track = twoReports();
    expect([1_000, 1_500, 2_000, 9_000].map((ms) => placeAt(track, at(ms)).x)).toEqual([0, 1, 2, 2]);
    expect([1_999, 2_000].map((ms) => isMoving(track, at(ms)))).toEqual([true, false]);
  });

  it("turns from where it is when a report comes early", () => {
    const track = followed(twoReports(), report("c", 0, at(1_500)), pace);
    expect([1_500, 2_000, 2_500].map((ms) => placeAt(track, at(ms)).x)).toEqual([1, 0.5, 0]);
  });

  it("does not begin anew when the same record comes with another value", () => {
    const track = twoReports();
    expect(followed(track, report("b", 2, at(1_700)), pace)).toBe(track);
  });

  it.each<[string, Track]>([
    ["after more than 2.5 polls without a list", twoReports({ ageBeforeMs: 2_501 })],
    ["to another map", twoReports({}, 2, 2)],
    ["where no robot could have driven", twoReports({}, 5.1)],
    ["for a user who asks for less motion", twoReports({ isMotionReduced: true })],
  ])("jumps %s", (_when, track) => {
    expect(placeAt(track, at(1_000))).toEqual(track.report.place);
    expect(isMoving(track, at(1_000))).toBe(false);
  });

  it("moves after exactly 2.5 polls, and as fast as a robot can", () => {
    expect(placeAt(twoReports({ ageBeforeMs: 2_500 }, 5), at(1_000)).x).toBe(0);
  });

  it("turns the shorter way round", () => {
    const turnedTo = (from: number, to: number) => {
      const first = { ...report("a", 0, start), place: { x: 0, y: 0, headingRadians: from } };
      const second = { ...report("b", 1, at(1_000)), place: { x: 1, y: 0, headingRadians: to } };
      const track = followed(followed(null, first, pace), second, pace);
      return placeAt(track, at(1_500)).headingRadians;
    };
    expect(turnedTo(0, 1)).toBeCloseTo(0.5);
    expect(turnedTo(0.1, 2 * Math.PI - 0.1)).toBeCloseTo(0);
    expect(turnedTo(-3, 3)).toBeCloseTo(-Math.PI);
  });
});

it("never lies beyond the reports of its map, whatever is heard when", () => {
  const wall = fc.integer({ min: -20_000, max: 20_000 });
  fc.assert(
    fc.property(heardReports, fc.nat(20_000), wall, (received, monotonicMs, wallMs) => {
      const track = trackOf(received) as Track;
      const now = later(track.report.receivedAt, { monotonicMs, wallMs });
      const shown = placeAt(track, now);
      const onMap = received.map((each) => each.report).filter(({ mapId }) => mapId === track.report.mapId);
      for (const axis of ["x", "y"] as const) {
        const values = onMap.map(({ place }) => place[axis]);
        expect(shown[axis]).toBeGreaterThanOrEqual(Math.min(...values));
        expect(shown[axis]).toBeLessThanOrEqual(Math.max(...values));
      }
      expect(track.report.mapId).toBe(received.at(-1)?.report.mapId);
    }),
    { numRuns: 500 },
  );
});

it("comes to its last report within one poll, and no step leads away from it", () => {
  const distance = (track: Track, now: Moment) => {
    const { x, y } = placeAt(track, now);
    return Math.hypot(x - track.report.place.x, y - track.report.place.y);
  };
  fc.assert(
    fc.property(heardReports, fc.nat(6_000), fc.nat(6_000), (received, first, second) => {
      const track = trackOf(received) as Track;
      const after = (ms: number) => later(track.report.receivedAt, { monotonicMs: ms, wallMs: ms });
      const early = distance(track, after(Math.min(first, second)));
      expect(distance(track, after(Math.max(first, second)))).toBeLessThanOrEqual(early + 1e-6);
      const longest = Math.max(...received.map((each) => each.pace.pollMs));
      expect(placeAt(track, after(longest))).toEqual(track.report.place);
    }),
    { numRuns: 500 },
  );
});
