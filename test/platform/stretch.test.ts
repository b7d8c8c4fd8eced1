import { expect, it } from "vitest";
import { createStretch } from "../../src/platform/stretch.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("begins once, lasts for half a minute after the last time, and says when it is over", () => {
  const clock = createManualClock();
  let ends = 0;
  const stretch = createStretch(clock, () => {
    ends += 1;
  });
  expect(stretch.isOn()).toBe(false);
  expect(stretch.note()).toBe(true);
  clock.advance(29_999);
  expect(stretch.note()).toBe(false);
  clock.advance(29_999);
  expect([stretch.isOn(), ends]).toEqual([true, 0]);
  clock.advance(1);
  expect([stretch.isOn(), ends]).toEqual([false, 1]);
  expect(stretch.note()).toBe(true);
});
