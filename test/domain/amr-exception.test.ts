import { expect, test } from "vitest";
import { exceptionText } from "../../src/domain/idle-reason.ts";

test.each([
  [["blocked"], ["1001"], 1, "blocked (code 1001, level 1)"],
  [["blocked", "flat"], ["1001", "1002"], 0, "blocked; flat (code 1001, code 1002)"],
  [[], ["1001"], 0, "the robot reports an exception (code 1001)"],
  [[], [], 2, "the robot reports an exception (level 2)"],
  [["blocked"], [], 0, "blocked"],
])("exceptions %j with the codes %j and level %i in words", (exception, exceptionCodes, level, text) => {
  expect(exceptionText({ exception, exceptionCodes, level })).toBe(text);
});
