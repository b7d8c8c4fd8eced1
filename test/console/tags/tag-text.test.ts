import { expect, it } from "vitest";
import {
  qualityWord,
  type TagQuery,
  tagsRequest,
  valueStart,
  valueText,
} from "../../../src/console/fleet/plant-words.ts";
import { qualities } from "../../../src/domain/observed.ts";

const plain = { unit: null, meaning: null };

it.each([
  ["a number", { value: 81.5, clipped: false }, "81.5"],
  ["a payload, as it is", { value: '{"a":1}', clipped: false }, '{"a":1}'],
  ["an array", { value: [1, 2], clipped: false }, "[1,2]"],
  ["false, which is a value", { value: false, clipped: false }, "false"],
  ["the beginning of a long one", { value: "abc", clipped: true }, "abc…"],
  ["none", { value: null, clipped: false }, "no value"],
])("shows %s", (_what, tag, text) => {
  expect(valueText({ ...plain, ...tag })).toBe(text);
});

it("shows a value with its unit, or with what its number means", () => {
  const value = { value: 1, clipped: false };
  expect(valueText({ ...plain, ...value, unit: "%" })).toBe("1 %");
  expect(valueText({ ...plain, ...value, meaning: { en: "charging", de: "lädt" } })).toBe("1: charging");
});

it("shows a line of a long payload in a list", () => {
  expect(valueStart({ ...plain, value: "x".repeat(121), clipped: false })).toBe(`${"x".repeat(120)}…`);
  expect(valueStart({ ...plain, value: "x".repeat(120), clipped: false })).toBe("x".repeat(120));
});

it("calls nothing normal but what is good, and gives the status of OPC UA where it is not", () => {
  for (const quality of qualities) {
    const { word, emphasis } = qualityWord({ quality, status: "BadX" });
    expect([quality, emphasis === "normal", word]).toEqual([
      quality,
      quality === "good",
      quality === "good" ? "good" : `${quality} (BadX)`,
    ]);
    expect(qualityWord({ quality, status: null }).word).toBe(quality);
  }
});

it("asks for no more than a page, and only by what is given", () => {
  const nothing: TagQuery = { text: " ", protocol: "", robot: "", address: "", cursor: "" };
  expect(tagsRequest(nothing)).toBe("/tags?limit=50");
  expect(tagsRequest({ ...nothing, text: "a b&c", robot: "r#1 ", cursor: "x" })).toBe(
    "/tags?text=a+b%26c&robot=r%231&cursor=x&limit=50",
  );
});
