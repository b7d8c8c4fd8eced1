import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { requirementProblems } from "../../scripts/requirements.mjs";

const page = readFileSync("docs/internals/iec-62443-4-2.md", "utf8");

describe("the page about IEC 62443-4-2", () => {
  test("has a row for each requirement, and a test for each that is met", () => {
    expect(requirementProblems(page)).toEqual([]);
  });

  test.each([
    ["a requirement without a row", page.replace(/^\| CR 7\.8 .*\n/m, ""), "7.8 has no row"],
    [
      "another status",
      page.replace("| met | One command", "| mostly | One command"),
      "CR 7.3 Backup: the status is mostly",
    ],
    [
      "a row that is met and names no test",
      page.replace("`test/daemon/backup.test.ts`", "see there"),
      "CR 7.3 Backup: is met, and names no test",
    ],
    [
      "a test that does not exist",
      page.replace("test/daemon/backup.test.ts", "test/daemon/gone.test.ts"),
      "CR 7.3 Backup: test/daemon/gone.test.ts does not exist",
    ],
  ])("with %s is refused", (_what, text, says) => {
    expect(requirementProblems(text)).toEqual([says]);
  });
});
