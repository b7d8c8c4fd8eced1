import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { gatewayErrors } from "../src/domain/errors.ts";

const pages = ["README.md", ...readdirSync("docs").map((name) => join("docs", name))].filter((path) =>
  path.endsWith(".md"),
);

it("docs/plc.md lists every error of the gateway, and no other", () => {
  const rows = [...readFileSync("docs/plc.md", "utf8").matchAll(/^\| (1\d{3}) \| (\w+) \| (.+) \|$/gm)];
  const documented = rows.map(([, id, name, advice]) => ({ id: Number(id), name, advice }));
  const known = Object.entries(gatewayErrors).map(([name, { id, advice }]) => ({ id, name, advice }));
  expect(documented).toEqual(known);
});

it("no page points to a file of the project that is not there", () => {
  const dead = pages.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map((match) => join(dirname(page), match[1] ?? ""))
      .filter((target) => !exists(target))
      .map((target) => `${page}: ${target}`),
  );
  expect(pages.length).toBeGreaterThan(4);
  expect(dead).toEqual([]);
});

function exists(path: string): boolean {
  return readdirSync(dirname(path)).includes(path.split("/").at(-1) ?? "");
}
