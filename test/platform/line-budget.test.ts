import { expect, it } from "vitest";
import { createLineBudget } from "../../src/platform/log-bounds.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("has room for so many lines in a window, and tells at its end how many it left out", () => {
  const clock = createManualClock();
  const leftOut: number[] = [];
  const budget = createLineBudget(clock, { most: 2, windowMs: 1_000 }, (count) => void leftOut.push(count));
  expect([budget.take(), budget.take(), budget.take(), budget.take()]).toEqual([true, true, false, false]);
  clock.advance(999);
  expect(budget.take()).toBe(false);
  expect(leftOut).toEqual([]);
  clock.advance(1);
  expect(leftOut).toEqual([3]);
  expect(budget.take()).toBe(true);
  clock.advance(5_000);
  expect(leftOut).toEqual([3]);
});
