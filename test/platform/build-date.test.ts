import { expect, it } from "vitest";
import { judgingMs, wrongClock } from "../../src/platform/clock-watch.ts";

const built = new Date("2026-11-27T12:00:00Z");

it("calls a clock wrong that is before the program's build by more than a day", () => {
  expect(wrongClock(Date.UTC(2010, 0, 1), built)).toBe(
    "this machine's clock says 2010-01-01, and the program was built on 2026-11-27: set the clock, best by NTP; until then no certificate is made or called expired",
  );
  expect(wrongClock(Date.UTC(2026, 10, 26, 12, 1), built)).toBeNull();
  expect(wrongClock(Date.UTC(2040, 0, 1), built)).toBeNull();
});

it("judges by any clock if the date of the build is not known", () => {
  expect(wrongClock(0, null)).toBeNull();
  expect(judgingMs(1_234, null)).toBe(1_234);
});

it("judges nothing by a wrong clock", () => {
  expect(judgingMs(Date.UTC(2010, 0, 1), built)).toBeNaN();
});
