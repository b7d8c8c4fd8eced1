import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type FloorRobot,
  type FloorState,
  isAlike,
  noticeOf,
  restMs,
  sceneAt,
} from "../../../src/console/floor/scene.ts";
import { ageMs, type Moment, timeOfDay } from "../../../src/console/trust/time-text.ts";
import { floorStates, moments } from "./floor-arbitraries.ts";

const receivedAt: Moment = { monotonicMs: 1_000, wallMs: 1_700_000_000_000 };
const after = (ms: number): Moment => ({ monotonicMs: 1_000 + ms, wallMs: receivedAt.wallMs + ms });

const place = { x: 1, y: 2, headingRadians: 0 };
const cart: FloorRobot = {
  robotId: "cart-01",
  name: "cart-01",
  isPlaceGood: true,
  family: "cart",
  quality: "good",
  word: "idle",
  emphasis: "normal",
  track: { report: { record: "a", mapId: 1, place, receivedAt }, from: place, durationMs: 0 },
  seen: { ageWhenSentMs: 400, receivedAt },
  trail: [],
  ahead: [],
};
const state: FloorState = {
  mapId: 1,
  points: [],
  robots: [cart],
  pollMs: 1_000,
  isLive: true,
  chosenId: null,
};
const markAt = (changes: Partial<FloorState>, ms = 0) =>
  sceneAt({ ...state, ...changes }, after(ms)).marks[0];

describe("a mark of the floor", () => {
  it("is full while its place is known", () => {
    expect(markAt({}, 2_100)).toMatchObject({ isHollow: false, note: "", place: { x: 1, y: 2 } });
  });

  it("is hollow beyond 2.5 polls, and says since when", () => {
    const seenAt = timeOfDay(receivedAt.wallMs - 400);
    expect(markAt({}, 2_101)).toMatchObject({ isHollow: true, note: `was here at ${seenAt}` });
  });

  it("stays for a robot that is lost", () => {
    const robots = [{ ...cart, isPlaceGood: false, quality: "lost" as const }];
    const mark = markAt({ robots }, 3_600_000);
    expect(mark).toMatchObject({ isHollow: true, place: { x: 1, y: 2 } });
    expect(mark?.note).toMatch(/^lost, was here at \d\d:\d\d:\d\d$/);
  });

  it("is hollow while the gateway says nothing", () => {
    expect(markAt({ isLive: false })?.isHollow).toBe(true);
  });

  it("names what is unusual, also while its place is known", () => {
    expect(markAt({ robots: [{ ...cart, word: "paused", emphasis: "abnormal" }] })).toMatchObject({
      isHollow: false,
      note: "paused",
      emphasis: "abnormal",
    });
  });

  it("lies above the others if it is chosen", () => {
    const robots = [cart, { ...cart, robotId: "cart-02" }];
    const { marks } = sceneAt({ ...state, robots, chosenId: "cart-01" }, receivedAt);
    expect(marks.map(({ robotId, isChosen }) => [robotId, isChosen])).toEqual([
      ["cart-02", false],
      ["cart-01", true],
    ]);
  });
});

describe("a drawing", () => {
  const camera = { pixelsPerUnit: 5, originX: 0, originY: 0 };
  const driving = (x: number, headingRadians: number | null, mapId = 1): FloorRobot => {
    const report = { record: "b", mapId, place: { x, y: 2, headingRadians }, receivedAt };
    return { ...cart, track: { report, from: place, durationMs: 1_000 } };
  };
  const restOf = (...robots: FloorRobot[]) =>
    Math.round(restMs({ ...state, robots }, camera, { monotonicMs: 1_500, wallMs: 0 }));

  it("stays until its fastest mark is a pixel further, or has turned by one", () => {
    expect(restOf(cart, driving(3, 0), driving(11, 0))).toBe(20);
    // A quarter of a circle with the radius of a mark: 18.8 pixels a second.
    expect(restOf(driving(1, Math.PI / 2))).toBe(53);
    expect(restOf(driving(1, null))).toBe(500);
    expect(restOf(cart, driving(11, 0, 2))).toBe(500);
  });

  it("is the same if all stand, and nothing else has changed", () => {
    const at = (changes: Partial<FloorRobot>, ms = 0) =>
      sceneAt({ ...state, robots: [{ ...cart, ...changes }], chosenId: "cart-01" }, after(ms));
    const first = at({});
    expect(isAlike(first, at({ seen: { ageWhenSentMs: 0, receivedAt } }, 1_000))).toBe(true);
    expect(isAlike(first, at({}, 9_000))).toBe(false);
    expect(isAlike(first, at({ word: "paused", emphasis: "abnormal" }))).toBe(false);
    expect(isAlike(first, at({ trail: [place] }))).toBe(false);
    expect(isAlike(first, at({ ahead: [place] }))).toBe(false);
    expect(isAlike(first, { ...first, marks: [] })).toBe(false);
    const moving = at(driving(3, 0));
    expect([isAlike(moving, moving), isAlike(moving, first), isAlike(first, moving)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

it("points from the chosen robot to what it has yet to pass, only while its place is known", () => {
  const next = { x: 9, y: 2, headingRadians: null };
  const chosen = { robots: [{ ...cart, ahead: [next] }], chosenId: "cart-01" };
  expect(sceneAt({ ...state, ...chosen }, receivedAt).direction).toEqual([place, next]);
  expect(sceneAt({ ...state, ...chosen }, after(60_000))).toMatchObject({ direction: null, ahead: [] });
});

it("shows no places without polls, and says so", () => {
  expect(sceneAt({ ...state, pollMs: null }, receivedAt).marks).toEqual([]);
  expect(noticeOf({ ...state, pollMs: null })).toContain("does not poll the online list");
  expect(noticeOf({ ...state, mapId: null })).toBe("No map is known yet.");
  expect(noticeOf(state)).toBeNull();
});

it("shows nothing as known that is not", () => {
  let [full, hollow] = [0, 0];
  fc.assert(
    fc.property(floorStates, moments, (any, now) => {
      for (const mark of sceneAt(any, now).marks) {
        const robot = any.robots.find(({ robotId }) => robotId === mark.robotId) as FloorRobot;
        expect(robot.track?.report.mapId).toBe(any.mapId);
        const isFresh = ageMs(robot.seen, now) <= 2.5 * (any.pollMs ?? 0);
        expect(mark.isHollow).toBe(!(any.isLive && robot.isPlaceGood && isFresh));
        if (mark.isHollow) expect(mark.note).not.toBe("");
        if (mark.isHollow) hollow += 1;
        else full += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(full, hollow)).toBeGreaterThan(10);
});

it("shows each robot of the map once, and no other", () => {
  fc.assert(
    fc.property(floorStates, moments, (any, now) => {
      const placed = any.robots.filter(({ track }) => track !== null && track.report.mapId === any.mapId);
      const wanted = any.pollMs === null ? [] : placed.map(({ robotId }) => robotId);
      const { marks } = sceneAt(any, now);
      expect(marks.map(({ robotId }) => robotId).sort()).toEqual(wanted.sort());
    }),
    { numRuns: 200 },
  );
});
