import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { structuredTextOf } from "./markdown-blocks.ts";
import { parseStructuredText } from "./parser.ts";

it("finds the blocks of structured text in a page, at the lines of the page", () => {
  const page = [
    ...["# Title", "", "```iecst", "x := 1;", "```", ""],
    ...["````md", "```iecst", "no := 1;", "```", "````", "", "```iecst", "y := ;", "```"],
  ].join("\n");
  expect(structuredTextOf(page)).toEqual([`${"\n".repeat(3)}x := 1;`, `${"\n".repeat(13)}y := ;`]);
  expect(() => parseStructuredText(...structuredTextOf(page))).toThrow("line 14, column 6: an expression");
});

it("every block of structured text in the documentation can be read", () => {
  const pages = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  const blocks = pages.flatMap((name) => structuredTextOf(readFileSync(join("docs", name), "utf8")));
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) expect(() => parseStructuredText(block)).not.toThrow();
});
