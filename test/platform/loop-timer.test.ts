import { expect, it } from "vitest";
import { startLoopTimer } from "../../src/platform/loop-time.ts";
import { createManualClock } from "../support/manual-clock.ts";

/** A clock whose timers are late while the event loop stands still. */
function stallingClock() {
  const clock = createManualClock();
  let stalledMs = 0;
  return {
    monotonicMs: () => clock.monotonicMs() + stalledMs,
    after: clock.after,
    advance: clock.advance,
    stall(durationMs: number) {
      stalledMs += durationMs;
    },
  };
}

it("counts the time in which the event loop ran", () => {
  const clock = stallingClock();
  const timer = startLoopTimer(clock);
  clock.advance(250);
  expect(timer.elapsedMs()).toBe(250);
  clock.stall(5_000);
  expect(timer.elapsedMs()).toBe(300);
  clock.advance(50);
  clock.advance(30);
  expect(timer.elapsedMs()).toBe(330);
  timer.stop();
  clock.advance(1_000);
  expect(timer.elapsedMs()).toBe(330);
});

it("reaches its limit only by such time", () => {
  const clock = stallingClock();
  let reached = 0;
  const timer = startLoopTimer(clock, 1_000, () => {
    reached += 1;
  });
  clock.stall(3_000);
  clock.advance(900);
  expect(reached).toBe(0);
  clock.advance(100);
  expect(reached).toBe(1);
  clock.advance(5_000);
  expect([reached, timer.elapsedMs()]).toEqual([1, 1_000]);
});
