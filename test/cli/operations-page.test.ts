import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exitCodeOf } from "../../src/cli/control-client.ts";
import { exitCodes, statusCodes } from "../../src/cli/exit.ts";
import { outcomeNumbers } from "../../src/domain/outcome.ts";

const page = readFileSync("docs/metrics.md", "utf8");

/** The rows of the first table below a heading, cell by cell. */
function tableBelow(heading: string): readonly (readonly string[])[] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`)).split("\n## ")[1] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function texts(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ path: name, text: readFileSync(join(folder, name), "utf8") }));
}

it("docs/metrics.md has each exit code, and no other", () => {
  const outcomes = Object.keys(outcomeNumbers).map(exitCodeOf);
  const known = new Set([...Object.values(exitCodes), ...Object.values(statusCodes), ...outcomes]);
  const shown = new Set(tableBelow("Exit codes").flatMap(([codes = ""]) => codes.split(", ").map(Number)));
  expect([...shown].sort()).toEqual([...known].sort());
});

it("no command ends with a number of its own", () => {
  const literal = /process\.(exit\(|exitCode = )\d/;
  expect(
    texts("src/cli")
      .filter(({ text }) => literal.test(text))
      .map(({ path }) => path),
  ).toEqual([]);
});

it("docs/commands.md has each request of the control socket", () => {
  const route = /server\.(get|put|post|delete)(?:<[^(]*>)?\(\s*"(\/api\/v1\/[^"]*)"/g;
  const routes = texts("src/northbound/web").flatMap(({ text }) =>
    [...text.matchAll(route)].map(
      ([, method = "", path = ""]) => `${method.toUpperCase()} ${path.replace(/:(\w+)/g, "{$1}")}`,
    ),
  );
  expect(routes.length).toBeGreaterThan(8);
  const commands = readFileSync("docs/commands.md", "utf8");
  expect(routes.filter((each) => !commands.includes(`\`${each}\``))).toEqual([]);
});
