import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { liveKeys } from "../../src/config/fields.ts";
import { configSchema } from "../../src/config/schema.ts";
import { alarmRules } from "../../src/domain/alarm.ts";
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
  for (const page of ["docs/opcua-reference.md", "docs/mqtt.md"])
    expect(readFileSync(page, "utf8")).toContain("(commands.md#codes)");
});

it("one page has every alarm under a heading of its code, for the links of the console", () => {
  const codes = Object.keys(alarmRules).map((code) => code.toLowerCase());
  expect(
    anchors("docs/alarms.md")
      .filter((anchor) => codes.includes(anchor))
      .sort(),
  ).toEqual(codes.sort());
});

it("the page of the configuration marks every key that a reload changes", () => {
  const [, page = ""] = readFileSync("docs/configuration.md", "utf8").split("\n## Keys\n");
  const rows = Array.from(
    page.matchAll(/^\| `(\w+[.[*\]][^`]+)`(?:, `[^`]+`)?( ↻[a-z ]*?)? \| [^|]+ \|$/gm),
    ([, key = "", reload = ""]) => ({
      key,
      reload: reload.trim(),
    }),
  );
  expect(rows.length).toBeGreaterThan(150);
  const [changed, entries] = [true, false].map((isChanged) =>
    [...liveKeys(configSchema)]
      .filter(({ reloads }) => reloads.includes("changed") === isChanged)
      .map(({ path }) => path),
  );
  const belongs = ({ key }: { key: string }) =>
    changed?.some((path) => key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`));
  expect(rows.filter(({ reload }) => reload === "↻")).toEqual(rows.filter(belongs));
  expect(rows.filter(({ reload }) => reload.startsWith("↻ ")).map(({ key }) => key)).toEqual(entries);
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
  const ways = pages.get("docs/internals/ways.md") ?? "";
  const passed = Array.from(ways.matchAll(/`([\w-]+\/[\w./-]+\.ts)`/g), ([, file = ""]) => join("src", file));
  expect(passed.length).toBeGreaterThan(50);
  expect(passed.filter((file) => !existsSync(file) && !file.startsWith("src/src/"))).toEqual([]);
});
