import { expect, it } from "vitest";
import { createRecurringProblem } from "../../src/platform/log-bounds.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("is reported once, lasts for half a minute after the last time, and tells when it is over", () => {
  const clock = createManualClock();
  let ends = 0;
  const problem = createRecurringProblem(clock, () => {
    ends += 1;
  });
  expect(problem.isRecurring()).toBe(false);
  expect(problem.note()).toBe(true);
  clock.advance(29_999);
  expect(problem.note()).toBe(false);
  clock.advance(29_999);
  expect([problem.isRecurring(), ends]).toEqual([true, 0]);
  clock.advance(1);
  expect([problem.isRecurring(), ends]).toEqual([false, 1]);
  expect(problem.note()).toBe(true);
});
