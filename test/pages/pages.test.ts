import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { gatewayErrors } from "../../src/domain/errors.ts";
import { anchors, pages } from "./page.ts";

it("one page lists every error of the gateway, and the others point to it", () => {
  const rows = [...pages].flatMap(([page, text]) =>
    Array.from(text.matchAll(/^\| (1\d{3}) \| (\w+) \| (.+) \|$/gm), ([, id, name, advice]) => ({
      page,
      id: Number(id),
      name,
      advice,
    })),
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

it("every link of a page leads to a file, and to a heading of it", () => {
  const dead = [...pages].flatMap(([page, text]) =>
    Array.from(text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g), ([, file = "", anchor]) => {
      const target = file === "" ? page : join(dirname(page), file);
      const isThere = existsSync(target) && (anchor === undefined || anchors(target).includes(anchor));
      return isThere ? "" : `${page}: ${file}#${anchor}`;
    }),
  );
  expect(dead.length).toBeGreaterThan(40);
  expect(dead.filter((link) => link !== "")).toEqual([]);
});

it("every file and folder that a page names is there", () => {
  const path = /`((?:src|test|config|scripts|bench|docs|proto|systemd)\/[\w./-]*\w)\/?`/g;
  const named = [...pages].flatMap(([page, text]) =>
    Array.from(text.matchAll(path), ([, name = ""]) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ name }) => !existsSync(name))).toEqual([]);
});
