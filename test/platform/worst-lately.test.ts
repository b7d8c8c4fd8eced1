import { expect, it } from "vitest";
import { createWorstLately } from "../../src/platform/work-times.ts";

it("forgets what is older than a minute", () => {
  let nowMs = 12_345_678;
  const lately = createWorstLately({ monotonicMs: () => nowMs });
  expect(lately.worst()).toBe(0);
  lately.note(40);
  nowMs += 30_000;
  lately.note(7);
  expect(lately.worst()).toBe(40);
  nowMs += 31_000;
  expect(lately.worst()).toBe(7);
  nowMs += 3_600_000;
  expect(lately.worst()).toBe(0);
});
