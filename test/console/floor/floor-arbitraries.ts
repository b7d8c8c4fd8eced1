import fc from "fast-check";
import type { FloorRobot, FloorState } from "../../../src/console/floor/scene.ts";
import {
  followed,
  type Pace,
  type Place,
  type Report,
  type Track,
} from "../../../src/console/floor/track.ts";
import type { Moment } from "../../../src/console/trust/time-text.ts";

const coordinate = fc.double({ min: -1e6, max: 1e6, noNaN: true });

const shape = fc.constantFrom("dot", "square", "ring", "cross", "bar", "station");

const place: fc.Arbitrary<Place> = fc.record({
  x: coordinate,
  y: coordinate,
  headingRadians: fc.option(fc.double({ min: -10, max: 10, noNaN: true })),
});

/** Both clocks, which a sleep or a user may set apart. */
const step = fc.record({
  monotonicMs: fc.integer({ min: 0, max: 10_000 }),
  wallMs: fc.integer({ min: -10_000, max: 100_000 }),
});

/** What is heard of one robot. */
export interface Received {
  readonly report: Report;
  readonly pace: Pace;
}

/** In the order in which it is heard. */
export const heardReports: fc.Arbitrary<readonly Received[]> = fc
  .array(
    fc.record({
      step,
      place,
      mapId: fc.integer({ min: 1, max: 2 }),
      record: fc.integer({ min: 0, max: 9 }),
      pollMs: fc.integer({ min: 100, max: 5_000 }),
      ageBeforeMs: fc.integer({ min: 0, max: 20_000 }),
      isMotionReduced: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((steps) => {
    let now: Moment = { monotonicMs: 0, wallMs: 1e12 };
    return steps.map(({ step: passed, place: at, mapId, record, ...pace }) => {
      now = later(now, passed);
      return { report: { record: `${record} ${at.x}`, mapId, place: at, receivedAt: now }, pace };
    });
  });

export function later(now: Moment, passed: Moment): Moment {
  return { monotonicMs: now.monotonicMs + passed.monotonicMs, wallMs: now.wallMs + passed.wallMs };
}

export function trackOf(received: readonly Received[]): Track | null {
  return received.reduce<Track | null>((track, { report, pace }) => followed(track, report, pace), null);
}

const floorRobot: fc.Arbitrary<FloorRobot> = fc
  .record({
    isPlaceGood: fc.boolean(),
    quality: fc.constantFrom(...(["good", "stale", "offline", "lost", "unknown"] as const)),
    family: fc.constantFrom("cart" as const, "serve" as const, "base" as const, "unknown" as const),
    word: fc.constantFrom("idle", "paused"),
    emphasis: fc.constantFrom("normal" as const, "abnormal" as const, "alarm" as const),
    received: fc.option(heardReports),
    ageWhenSentMs: fc.integer({ min: 0, max: 20_000 }),
    trail: fc.array(place, { maxLength: 3 }),
    ahead: fc.array(place, { maxLength: 3 }),
  })
  .map(({ received, ageWhenSentMs, ...robot }) => {
    const track = received === null ? null : trackOf(received);
    const receivedAt = track?.report.receivedAt ?? { monotonicMs: 0, wallMs: 1e12 };
    return { ...robot, robotId: "", name: "", track, seen: { ageWhenSentMs, receivedAt } };
  });

export const floorStates: fc.Arbitrary<FloorState> = fc
  .record({
    mapId: fc.option(fc.integer({ min: 1, max: 2 })),
    points: fc.array(fc.record({ x: coordinate, y: coordinate, name: fc.string(), shape }), { maxLength: 4 }),
    robots: fc.array(floorRobot, { maxLength: 6 }),
    pollMs: fc.option(fc.integer({ min: 100, max: 5_000 })),
    isLive: fc.boolean(),
    chosenId: fc.option(fc.constantFrom("robot-0", "robot-1", "robot-7")),
  })
  .map((state) => ({
    ...state,
    robots: state.robots.map((robot, at) => ({ ...robot, robotId: `robot-${at}`, name: `robot-${at}` })),
  }));

/** Soon after all that was heard, and long after. */
export const moments: fc.Arbitrary<Moment> = fc
  .record({ monotonicMs: fc.nat(120_000), wallMs: fc.integer({ min: -50_000, max: 120_000 }) })
  .map((passed) => later({ monotonicMs: 0, wallMs: 1e12 }, passed));
