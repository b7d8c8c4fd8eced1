import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultSchema, incidentSchema } from "../../src/simulator/scenario/schema.ts";

/**
 * Holds docs/internals/service.md and the contract tests together: a row of the service's
 * rules without a test is a promise that nobody keeps.
 */

const page = readFileSync("docs/internals/service.md", "utf8");
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

test("every row names the file of its test", () => {
  const wrong = [...page.matchAll(/^\| ((?:ERR|TRN|WHK|END)-\d{2,3}) \|.*\| ([a-z-]+) \|$/gm)].filter(
    ([, id, name]) => !readFileSync(join(folder, `service-${name}.test.ts`), "utf8").includes(`"${id} `),
  );
  expect(wrong.map(([line]) => line)).toEqual([]);
});

const simulatorPage = readFileSync("docs/simulator.md", "utf8");

/** The one-line objects that the page of the simulator gives to a command of its own, `fault` or `happen`. */
const lines = (name: "fault" | "happen") =>
  [...simulatorPage.matchAll(new RegExp(`\\x60${name} '(\\{[^']+\\})'\\x60`, "g"))].map(([, json]) =>
    JSON.parse(String(json)),
  );

test("every fault and incident of the page is one that the service takes", () => {
  for (const line of lines("fault")) expect(faultSchema.safeParse(line)).toMatchObject({ success: true });
  for (const line of lines("happen")) expect(incidentSchema.safeParse(line)).toMatchObject({ success: true });
});

test("every fault and incident that the service takes has its line on the page", () => {
  for (const [schema, given] of [
    [faultSchema, lines("fault")],
    [incidentSchema, lines("happen")],
  ] as const) {
    const wanted = schema.options.flatMap(({ shape }) => {
      const [kind] = shape.kind.values;
      const variants = Object.entries(shape).flatMap(([key, value]) =>
        (key === "effect" || key === "how") && "options" in value ? (value.options as readonly string[]) : [],
      );
      return variants.length === 0 ? [kind] : variants.map((variant) => `${kind} ${variant}`);
    });
    const shown = given.map((line) => [line.kind, line.effect ?? line.how].filter(Boolean).join(" "));
    expect(wanted.filter((each) => !shown.includes(String(each)))).toEqual([]);
    expect(wanted.length).toBeGreaterThan(5);
  }
});
