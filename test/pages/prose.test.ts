import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const words = (count: number, between = "\n") => `Word${`${between}word`.repeat(count - 1)}`;
const wide = "x".repeat(55).concat(" ", "y".repeat(55));
const plc = "docs/opcua-reference.md";
const service = "docs/internals/service.md";
// Names that the check refuses, put together here so that it does not refuse this file.
const facts = ["wire", "facts"].join("-");
const description = ["interface", "document"];

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
  "foreign.ts": [
    `/** First.\n * As ${facts} says. */`,
    `foreign.ts:2: "${facts}" is no document of the repository; cite a section of docs/, or give the reason`,
  ],
  "wrapped.yaml": [
    `a: 1 # (see the ${description.join("\n# ")})`,
    `wrapped.yaml:1: "${description.join(" ")}" is no document of the repository; cite a section of docs/, or give the reason`,
  ],
  "sections.ts": [
    `// ${plc}, "Alarms", (${plc}, Is a\n// value true?), ${plc}#alarms, ${service}, ERR-47.`,
    "",
  ],
  "section.ts": [
    `const a = "${plc}, Alarming tags.";`,
    `section.ts:1: ${plc} has no section "Alarming tags.";"; cite a heading of it, or the id of a row`,
  ],
  "row.ts": [
    `/** ${service}, ERR-999 */`,
    `row.ts:1: ${service} has no section "ERR-999 */"; cite a heading of it, or the id of a row`,
  ],
  "anchor.yml": [
    `runbook: "${plc}#alarming"`,
    `anchor.yml:1: ${plc} has no section "#alarming"; cite a heading of it, or the id of a row`,
  ],
  "page.md": ["See [notes](notes-of-ours.md).", "page.md:1: notes-of-ours.md is no file of the repository"],
  "moved.ts": [
    "/** See test/nowhere.test.ts. */",
    "moved.ts:1: test/nowhere.test.ts is no file of the repository",
  ],
} as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-prose-"));
  for (const [name, [text]] of Object.entries(cases)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("refuses long sentences, wide lines of prose, and citations of what is not in the repository", () => {
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

/** Texts with a line that is too wide, and what `--fix` makes of them. */
const fixed = {
  "item.md": [
    `- ${wide} \`a b\` end.\n- short\n\n| ${wide} |\n|---|\n`,
    `- ${"x".repeat(55)}\n  ${"y".repeat(55)} \`a b\` end.\n- short\n\n| ${wide} |\n|---|\n`,
  ],
  "code.md": [`    ${wide}\n`, `    ${wide}\n`],
} as const;

it("wraps what is too wide with --fix, and nothing else", () => {
  for (const [name, [text, expected]] of Object.entries(fixed)) {
    const path = join(folder, `fix-${name}`);
    writeFileSync(path, text);
    const { status, stderr } = spawnSync("node", ["scripts/prose.mjs", "--fix", path], { encoding: "utf8" });
    expect(readFileSync(path, "utf8"), name).toBe(expected);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  }
});
