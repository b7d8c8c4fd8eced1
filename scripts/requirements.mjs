// Holds docs/internals/iec-62443-4-2.md to its own words: each requirement of the standard has a row, each
// status is one of four, and each row that is met names tests that exist.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const page = "docs/internals/iec-62443-4-2.md";
const statuses = ["met", "by configuration", "the plant's", "not"];
/** How many requirements each foundational requirement has for components. */
const counts = [14, 13, 14, 3, 4, 2, 8];

/** @returns a line for each problem */
export function requirementProblems(text) {
  const rows = text
    .split("\n")
    .filter((line) => /^\| (CR|SAR|EDR|HDR|NDR) /.test(line))
    .map((line) => line.split(/ ?\| ?/).slice(1, -1));
  const numbers = new Set(rows.map(([name]) => /\d\.\d+/.exec(name)?.[0]));
  const wanted = counts.flatMap((count, at) =>
    Array.from({ length: count }, (_, place) => `${at + 1}.${place + 1}`),
  );
  return [
    ...wanted.filter((number) => !numbers.has(number)).map((number) => `${number} has no row`),
    ...rows.flatMap(([name, status, how = ""]) => {
      const tests = how.match(/test\/[\w./-]+\.test\.ts/g) ?? [];
      return [
        ...(statuses.includes(status) ? [] : [`${name}: the status is ${status}`]),
        ...(status === "met" && tests.length === 0 ? [`${name}: is met, and names no test`] : []),
        ...tests.filter((test) => !existsSync(test)).map((test) => `${name}: ${test} does not exist`),
      ];
    }),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = requirementProblems(readFileSync(page, "utf8"));
  for (const problem of problems) console.error(`${page}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
