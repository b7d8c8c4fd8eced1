import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const words = (count: number, between = "\n") => `Word${`${between}word`.repeat(count - 1)}`;
const wide = "x".repeat(55).concat(" ", "y".repeat(55));

/** Each text with what `scripts/prose.mjs` says of it, by line; nothing: it passes. */
const cases = {
  "short.md": [`${words(30)}. ${words(30)}.`, ""],
  "long.md": [`Intro.\n\n${words(31)}.`, "long.md:3: 31 words, at most 30: Word word word word word word …"],
  "list.md": [`- ${words(31, "\n  ")}`, "list.md:1: 31 words, at most 30: Word word word word word word …"],
  "cell.md": [
    `| a |\n|---|\n| ${words(31, " ")} |`,
    "cell.md:3: 31 words, at most 30: Word word word word word word …",
  ],
  "code.md": [`    ${words(31, " ")}\n\n\`${words(20, " ")}\` is ${words(28)}.`, ""],
  "wide.md": [wide, "wide.md:1: 111 characters, at most 110"],
  "fence.md": [`\`\`\`\n${wide}\n\`\`\`\n\n| ${wide} |\n|---|`, ""],
  "link.md": [`[text](https://example.com/${wide.replace(" ", "-")})`, ""],
  "comment.ts": [`/** ${wide} */\nconst a = "${wide}";`, "comment.ts:1: 118 characters, at most 110"],
  "behind.ts": [`const a = 1; // ${wide}`, "behind.ts:1: 127 characters, at most 110"],
} as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-prose-"));
  for (const [name, [text]] of Object.entries(cases)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("refuses sentences of more than 30 words, and lines of more than 110 characters in prose", () => {
  const paths = Object.keys(cases).map((name) => join(folder, name));
  const { status, stderr } = spawnSync("node", ["scripts/prose.mjs", ...paths], { encoding: "utf8" });
  const told = stderr.trim().replaceAll(`${folder}/`, "").split("\n");
  expect(told.sort()).toEqual(
    Object.values(cases)
      .map(([, problem]) => problem)
      .filter((problem) => problem !== "")
      .sort(),
  );
  expect(status).toBe(1);
});
