import { expect, it } from "vitest";
import { editDistance, nearest } from "../../src/config/nearest.ts";

it.each([
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["adress", "address", 1],
  ["broekr", "broker", 1],
  ["port", "post", 1],
  ["kitten", "sitting", 3],
])("from %j to %j are %i steps", (from, to, steps) => {
  expect(editDistance(from, to)).toBe(steps);
});

it("names the nearest whatever its capitals", () => {
  expect(nearest("datadir", ["id", "dataDir"])).toBe("dataDir");
});

it("has nothing to name when nothing is known", () => {
  expect(nearest("a", [])).toBeUndefined();
});
