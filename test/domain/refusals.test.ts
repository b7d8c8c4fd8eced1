import { expect, it } from "vitest";
import { clip, quoted } from "../../src/domain/foreign-text.ts";
import { badRequest, ending, jsonFault, unknownOperation } from "../../src/domain/outcome.ts";

it("a text is clipped between characters", () => {
  expect(clip("abc", 3)).toBe("abc");
  expect(clip("abcd", 3)).toBe("abc…");
  expect(clip("ab😀d", 3)).toBe("ab…");
  expect(quoted('a"\n')).toBe('"a\\"\\n"');
});

it("a fault is told with its place in the request, both of a length that people read", () => {
  expect(badRequest({ path: "", message: "is not JSON" })).toMatchObject({
    outcome: "refused",
    code: "MALFORMED",
    message: "request: is not JSON",
    retrySafe: true,
  });
  expect(badRequest({ path: "commands", message: "is required" }).message).toBe(
    "request.commands: is required",
  );
  const long = badRequest({ path: "k".repeat(9_000), message: "m".repeat(9_000) });
  expect(long.message).toMatch(/^request\.k{192}…: m+…$/);
  expect(long.message.length).toBe(1_001);
  expect(unknownOperation("F".repeat(9_000)).message).toBe(`there is no operation "${"F".repeat(64)}…"`);
});

it("a key that stands twice is named with its path", () => {
  const path = ["request", "goals", 1];
  expect(jsonFault({ kind: "repeated", path, key: "pose" })).toEqual({
    path: "request.goals.1",
    message: 'has the key "pose" twice',
  });
  expect(jsonFault({ kind: "repeated", path: new Array(40_000).fill("deep"), key: "k" }).path.length).toBe(
    201,
  );
});

it("no outcome carries more words than people read", () => {
  expect(ending("unknown", "INTERNAL", "x".repeat(70_000), false).message).toBe(`${"x".repeat(1_000)}…`);
});
