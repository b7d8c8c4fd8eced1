import { expect, it } from "vitest";
import { createWorkTimes } from "../../src/platform/work-times.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("names the task that took longest since the last look, and the inner one of two", () => {
  const clock = createManualClock();
  const { time, takeLongest } = createWorkTimes(clock);
  expect(takeLongest()).toBeNull();
  expect(time("short", () => clock.advance(10))).toBeUndefined();
  time("outer", () => {
    clock.advance(2);
    time("inner", () => clock.advance(700));
  });
  expect(takeLongest()).toEqual({ part: "inner", ms: 700 });
  expect(takeLongest()).toBeNull();
  time("outer", () => {
    time("inner", () => clock.advance(100));
    clock.advance(600);
  });
  expect(takeLongest()).toEqual({ part: "outer", ms: 700 });
});

it("counts timers as work of their part, and tasks that throw", () => {
  const clock = createManualClock();
  const work = createWorkTimes(clock);
  const timed = work.clock("fleet");
  timed.after(5, () => clock.advance(50));
  clock.advance(5);
  expect(work.takeLongest()).toEqual({ part: "fleet", ms: 50 });
  const fail = () => {
    clock.advance(7);
    throw new Error("no");
  };
  expect(() => work.time("web", fail)).toThrow("no");
  expect(work.takeLongest()).toEqual({ part: "web", ms: 7 });
});
