import { expect, it } from "vitest";
import { pngProblem, pngSize } from "../../src/platform/png.ts";
import { greyPng } from "../support/png.ts";

it("reads the size of a PNG", () => {
  expect(pngSize(greyPng(40, 30))).toEqual({ width: 40, height: 30 });
  expect(pngProblem(greyPng(40, 30))).toBe(null);
});

it.each<[string, Buffer, string]>([
  ["text", Buffer.from("<svg></svg>".repeat(10)), "is no PNG"],
  ["nothing", Buffer.alloc(0), "is no PNG"],
  ["one that is cut off", greyPng(40, 30).subarray(0, 20), "is no PNG"],
  ["an empty picture", greyPng(0, 30, false), "has 0 × 30 pixels"],
  ["one that fills the memory", greyPng(60_000, 60_000, false), "has 60000 × 60000 pixels; at most 32000000"],
])("refuses %s", (_what, bytes, problem) => {
  expect(pngProblem(bytes)).toContain(problem);
});
