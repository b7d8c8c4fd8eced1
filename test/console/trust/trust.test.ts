import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBacklog, createLiveness, type Marked } from "../../../src/console/trust/liveness.ts";
import {
  ageMs,
  ageText,
  dateAndTime,
  elapsedMs,
  type Moment,
  timeOfDay,
  wallTimeMs,
} from "../../../src/console/trust/time-text.ts";

const start: Moment = { monotonicMs: 5_000, wallMs: 1_700_000_000_000 };
const passed = (monotonicMs: number, wallMs: number): Moment => ({
  monotonicMs: start.monotonicMs + monotonicMs,
  wallMs: start.wallMs + wallMs,
});

describe("an age", () => {
  it.each<[string, number, number, number]>([
    ["both clocks agree", 4_000, 4_000, 4_500],
    ["the machine slept, which stops the monotonic clock", 1_000, 3_600_000, 3_600_500],
    ["a user set the wall clock back", 4_000, -3_600_000, 4_500],
  ])("is what it was when sent and all time since: %s", (_when, monotonicMs, wallMs, expected) => {
    const now = passed(monotonicMs, wallMs);
    const dated = { ageWhenSentMs: 500, receivedAt: start };
    expect(ageMs(dated, now)).toBe(expected);
    expect(wallTimeMs(dated, now)).toBe(now.wallMs - expected);
  });

  it("is never less than what one clock shows, nor less than it was", () => {
    const times = fc.integer({ min: -1e7, max: 1e7 });
    fc.assert(
      fc.property(times, times, times, (sentMs, monotonicMs, wallMs) => {
        const now = passed(monotonicMs, wallMs);
        const age = ageMs({ ageWhenSentMs: sentMs, receivedAt: start }, now);
        expect(age).toBeGreaterThanOrEqual(Math.max(0, sentMs, monotonicMs, wallMs));
        expect(elapsedMs(start, now)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("the time for which a tick was kept back", () => {
  it("is nothing while ticks come as they are sent", () => {
    const backlog = createBacklog();
    for (let tick = 0; tick < 100; tick += 1) expect(backlog.note(tick * 1_000, 77 + tick * 1_000)).toBe(0);
  });

  it("is that of the hang for the first tick after it, and nothing when all were read", () => {
    const backlog = createBacklog();
    for (let tick = 0; tick < 10; tick += 1) backlog.note(tick * 1_000, tick * 1_000);
    const late = [10, 11, 12, 13].map((tick) => backlog.note(tick * 1_000, 13_000));
    expect(late).toEqual([3_000, 2_000, 1_000, 0]);
  });

  it("follows clocks that drift apart", () => {
    const backlog = createBacklog();
    for (let tick = 0; tick < 4_000; tick += 1) {
      expect(backlog.note(tick * 1_000, tick * 1_000.2)).toBeLessThan(20);
    }
  });

  it("begins anew with another stream", () => {
    const backlog = createBacklog();
    backlog.note(0, 0);
    expect(backlog.note(0, 9_000)).toBe(9_000);
    backlog.reset();
    expect(backlog.delayMs()).toBe(0);
    expect(backlog.note(0, 20_000)).toBe(0);
  });
});

describe("the page", () => {
  function open() {
    let now = start;
    const root: Marked = { dataset: {} };
    return {
      root,
      liveness: createLiveness(root, () => now),
      pass(monotonicMs: number, wallMs = monotonicMs) {
        now = { monotonicMs: now.monotonicMs + monotonicMs, wallMs: now.wallMs + wallMs };
      },
    };
  }

  it("is not live before the first tick", () => {
    const { root, liveness } = open();
    expect([liveness.isLive(), root.dataset.tick]).toEqual([false, "none"]);
  });

  it("restarts the animation with each tick, by another name", () => {
    const { root, liveness } = open();
    const names = [0, 0, 0].map(() => {
      liveness.tick(0);
      return root.dataset.tick;
    });
    expect(names).toEqual(["odd", "even", "odd"]);
  });

  it("is live for less than three seconds after a tick", () => {
    const { root, liveness, pass } = open();
    liveness.tick(0);
    pass(2_999);
    expect(liveness.isLive()).toBe(true);
    pass(1);
    expect([liveness.isLive(), root.dataset.tick]).toEqual([false, "none"]);
  });

  it("is not live after a sleep, which only the wall clock shows", () => {
    const { liveness, pass } = open();
    liveness.tick(0);
    pass(10, 60_000);
    expect(liveness.isLive()).toBe(false);
  });

  it("takes no tick that was kept back", () => {
    const { liveness } = open();
    liveness.tick(1_501);
    expect(liveness.isLive()).toBe(false);
    liveness.tick(1_500);
    expect(liveness.isLive()).toBe(true);
  });
});

it("writes times for people", () => {
  const at = new Date(2026, 0, 2, 3, 4, 5).getTime();
  expect([timeOfDay(at), dateAndTime(at)]).toEqual(["03:04:05", "2 Jan 2026, 03:04:05"]);
  const ages = [-1, 119_999, 120_000, 7_199_000, 7_200_000, 172_800_000];
  expect(ages.map((ms) => ageText(ms))).toEqual(["0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
});
