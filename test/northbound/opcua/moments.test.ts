import { expect, test } from "vitest";
import { dateAt } from "../../../src/northbound/opcua/node-opcua/tag.ts";

const at = Date.UTC(2026, 5, 1);

test("all values of a moment have one Date, also those that come in between others", () => {
  const first = dateAt(at);

  expect(dateAt(at + 1).getTime()).toBe(at + 1);
  expect(dateAt(at)).toBe(first);
});

test.each([
  ["of another moment that is kept in the same place", at + 64],
  ["before 1970", -5],
  ["with a fraction of a millisecond", at + 0.25],
])("a time %s is its own", (_what, ms) => {
  dateAt(at);

  expect(dateAt(ms).getTime()).toBe(Math.trunc(ms));
});
