import { expect, it } from "vitest";
import { type FloorPoint, merged } from "../../../src/console/floor/scene.ts";

const row = Array.from(
  { length: 40 },
  (_, at): FloorPoint => ({ x: at, y: 0, name: `P${at}`, shape: at === 21 ? "station" : "dot" }),
);

it("merges points of a row that would cover each other, and keeps the pictures", () => {
  expect(merged(row, { pixelsPerUnit: 10 })).toEqual(row);
  const far = merged(row, { pixelsPerUnit: 1 });
  expect(far.length).toBe(5);
  expect(far.map(({ name }) => name)).toContain("P21");
});

it("leaves the same points while the map is moved, and none twice", () => {
  const shown = merged(row, { pixelsPerUnit: 0.9 });
  expect(merged(row, { pixelsPerUnit: 0.8 })).toEqual(shown);
  expect(new Set(shown).size).toBe(shown.length);
});
