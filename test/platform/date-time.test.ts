import { expect, test } from "vitest";
import { dateTimeMs } from "../../src/platform/clock.ts";

test.each([
  ["2026-01-31T12:00:00Z", Date.UTC(2026, 0, 31, 12)],
  ["2028-02-29T00:00:00.5+01:00", Date.UTC(2028, 1, 28, 23, 0, 0, 500)],
  ["2027-02-29T00:00:00Z", null],
  ["2027-02-31T00:00:00Z", null],
  ["2027-04-31T00:00:00Z", null],
  ["2027-13-01T00:00:00Z", null],
  ["2027-01-01T25:00:00Z", null],
  ["2027-01-01T00:00:00", null],
  ["2027-01-01", null],
  [1, null],
])("%s is %s", (text, expected) => {
  expect(dateTimeMs(text)).toBe(expected);
});
