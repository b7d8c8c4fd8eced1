import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { gatewayErrors } from "../src/domain/errors.ts";

const pages = ["README.md", ...readdirSync("docs").map((name) => join("docs", name))].filter((path) =>
  path.endsWith(".md"),
);

it("one page lists every error of the gateway, and the others point to it", () => {
  const rows = pages.flatMap((page) =>
    Array.from(
      readFileSync(page, "utf8").matchAll(/^\| (1\d{3}) \| (\w+) \| (.+) \|$/gm),
      ([, id, name, advice]) => ({ page, id: Number(id), name, advice }),
    ),
  );
  const known = Object.entries(gatewayErrors).map(([name, { id, advice }]) => ({
    page: join("docs", "commands.md"),
    id,
    name,
    advice,
  }));
  expect(rows).toEqual(known);
  for (const page of ["docs/plc.md", "docs/scada.md"])
    expect(readFileSync(page, "utf8")).toContain("(commands.md#codes)");
});

it("one page lists every alarm of the gateway", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join("src", name), "utf8"));
  const raised = sources.flatMap((text) => {
    const [, ofState = ""] = /^export type AlarmCode = (.+);$/m.exec(text) ?? [];
    const others = text.matchAll(/kind: "alarm",[\s\S]{0,200}?code: "([A-Z_]+)"/g);
    const [, ofGateway = ""] = /^type GatewayAlarmCode = (.+);$/m.exec(text) ?? [];
    return [...`${ofState} ${ofGateway}`.matchAll(/["`]([A-Z_]+)/g), ...others].map(([, code = ""]) => code);
  });
  const [, table = ""] = readFileSync("docs/scada.md", "utf8").split("| `code` | is active |");
  const [rows = ""] = table.split("\n\n");
  const listed = Array.from(rows.matchAll(/^\| `([A-Z_]+)/gm), ([, code = ""]) => code);
  expect(listed.sort()).toEqual(raised.sort());
  expect(raised).toContain("DUPLICATE_GATEWAY");
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
