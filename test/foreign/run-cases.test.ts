import { expect, test } from "vitest";
import { runCases } from "../../scripts/foreign/run-cases.mjs";
import { NotRun } from "../../scripts/foreign/stack.mjs";

test("a case that fails, or is not run, ends its session before the next one begins", async () => {
  const log: string[] = [];
  const start = () => ({ close: async () => void log.push("closed") });
  const cases = {
    fails: () => Promise.reject(new Error("broken")),
    "is not run": () => Promise.reject(new NotRun("too old")),
    passes: async () => {},
  };
  const { passed, notRun, failed } = await runCases(cases, start, null, (line) => void log.push(line));
  expect(log).toEqual([
    ...["FAILED  fails: broken", "closed"],
    ...["not run is not run: too old", "closed"],
    ...["passed  passes", "closed"],
  ]);
  expect(passed).toEqual(["passes"]);
  expect(notRun).toEqual(["is not run (too old)"]);
  expect(failed).toBe(1);
});
