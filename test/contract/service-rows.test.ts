import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/**
 * Holds docs/service.md and the contract tests together: a row of the service's
 * rules without a test is a promise that nobody keeps.
 */

const page = readFileSync("docs/service.md", "utf8");
const rows = [...page.matchAll(/^\| ((?:ERR|TRN|WHK|END)-\d{2,3}) \|/gm)].map(([, id]) => String(id));

const folder = "test/contract";
const files = readdirSync(folder).filter((name) => /^service-.*\.test\.ts$/.test(name));
// Only tests that run: one that is skipped or left to do is not of this form.
const naming = /^(?:test|onBoth|overGrpc|overHttp)\(\s*"((?:ERR|TRN|WHK|END)-\d{2,3}) /gm;
const tested = files.flatMap((name) =>
  [...readFileSync(join(folder, name), "utf8").matchAll(naming)].map(([, id]) => String(id)),
);

const twice = (ids: readonly string[]) => ids.filter((id, at) => ids.indexOf(id) !== at);

test("rows and tests are found at all, of every kind", () => {
  for (const kind of ["ERR", "TRN", "WHK", "END"]) {
    expect(rows.filter((id) => id.startsWith(kind)).length).toBeGreaterThan(20);
    expect(tested.filter((id) => id.startsWith(kind)).length).toBeGreaterThan(20);
  }
});

test("no row is there twice, and no test", () => {
  expect(twice(rows)).toEqual([]);
  expect(twice(tested)).toEqual([]);
});

test("every row has its test", () => {
  expect(rows.filter((id) => !tested.includes(id))).toEqual([]);
});

test("every test has its row", () => {
  expect(tested.filter((id) => !rows.includes(id))).toEqual([]);
});

test("no contract test is skipped, alone or left to do", () => {
  for (const name of files) {
    expect(readFileSync(join(folder, name), "utf8")).not.toMatch(
      /\b(?:test|describe|it)\.(?:skip|only|todo|fails)\b/,
    );
  }
});
