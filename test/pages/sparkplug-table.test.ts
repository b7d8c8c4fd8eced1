import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rules } from "../support/sparkplug/check.ts";
import { unobserved } from "../support/sparkplug/unobserved.ts";

const TESTS = "test/northbound/mqtt/sparkplug";
const known = new Set([...rules.map(({ id }) => id), ...unobserved.flatMap(({ ids }) => ids)]);
const [, table = ""] = readFileSync("docs/sparkplug.md", "utf8").split("\n## What holds of the standard\n");
const rows = table
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split(" | "));

const idsOf = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, id]) => `tck-id-${id}`);

test("each assertion of the Sparkplug page is one of the standard, and its test exists", () => {
  expect(rows.length).toBeGreaterThan(10);
  const wrong = rows.flatMap(([ids = "", , tests = ""]) => {
    const source = readFileSync(`${TESTS}/${/^[\w-]+/.exec(tests)?.[0]}.test.ts`, "utf8");
    return [
      ...idsOf(ids).filter((id) => !known.has(id)),
      ...[...tests.matchAll(/\*([^*]+)\*/g)].flatMap(([, name]) =>
        source.includes(`test("${name}`) ? [] : [name],
      ),
    ];
  });
  expect(wrong).toEqual([]);
});
