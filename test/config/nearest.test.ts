import { expect, it } from "vitest";
import { editDistance, nearest } from "../../src/config/issues.ts";

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

it.each([
  ["zzqq", ["log", "web", "mqtt"]],
  ["wibble", ["address", "serviceName"]],
  ["foo", ["log"]],
])("names none for %j, which is near to none of %j", (name, known) => {
  expect(nearest(name, known)).toBeUndefined();
});

it("takes a name that begins as another", () => {
  expect(nearest("cert", ["certificate", "key"])).toBe("certificate");
});
