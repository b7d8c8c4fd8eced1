import { afterEach, expect, test } from "vitest";
import { createClockSkew } from "../../src/fleet/robot-clocks.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startFleetSession } from "../support/fleet-harness.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { startSimulator } from "../support/simulator.ts";

const HOUR_MS = 3_600_000;
const cleanups: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("a Date that may be ours is no skew, and of any other the least that it can be is told", () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 12, 0, 0, 900));
  const skew = createClockSkew(clock);
  expect(skew.nowMs()).toBeNull();
  skew.received("nonsense", clock.monotonicMs());
  expect(skew.nowMs()).toBeNull();
  // Whole seconds, cut off: 12:00:00 is any moment of that second.
  skew.received("Thu, 01 Jan 2026 12:00:00 GMT", clock.monotonicMs());
  expect(skew.nowMs()).toBe(0);
  skew.received("Thu, 01 Jan 2026 12:00:10 GMT", clock.monotonicMs());
  expect(skew.nowMs()).toBe(9_100);
  skew.received("Thu, 01 Jan 2026 11:59:50 GMT", clock.monotonicMs());
  expect(skew.nowMs()).toBe(-9_900);
});

test("an answer that took long tells less", () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 12));
  const skew = createClockSkew(clock);
  const sentAtMs = clock.monotonicMs();
  clock.advance(8_000);
  skew.received("Thu, 01 Jan 2026 12:00:01 GMT", sentAtMs);
  expect(skew.nowMs()).toBe(0);
});

test("a wall clock that is set shows at once, before the next answer", () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1, 12));
  const skew = createClockSkew(clock);
  skew.received("Thu, 01 Jan 2026 12:00:00 GMT", clock.monotonicMs());
  clock.jump(-HOUR_MS);
  clock.advance(60_000);
  expect(skew.nowMs()).toBe(HOUR_MS);
});

test("the session measures it by the answers that it gets, shows it in its health, and tells it", async () => {
  const simulator = await startSimulator();
  cleanups.push(() => simulator.stop());
  let setBackMs = 0;
  const told: number[] = [];
  const clock = { ...systemClock, nowMs: () => Date.now() - setBackMs };
  const harness = await startFleetSession(simulator.endpoints, {
    clock,
    onClockSkew: (ms) => void told.push(ms),
  });
  cleanups.push(harness.stop);
  await harness.until("the skew is told", () => told.length > 0);
  expect(Math.abs(told[0] ?? Number.NaN)).toBeLessThan(1_000);
  expect(harness.figure("clock_skew_seconds")).toBeLessThan(1);
  setBackMs = HOUR_MS;
  expect(harness.figure("clock_skew_seconds")).toBeGreaterThan(3_595);
  expect(harness.health().detail).toMatch(/this machine's clock is 3[56]\d\d(\.\d)? s behind the service's/);
  await harness.until("the new skew is told", () => (told.at(-1) ?? 0) > HOUR_MS - 5_000);
});
