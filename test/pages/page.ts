import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** README and the pages of docs/, by path. */
export const pages: ReadonlyMap<string, string> = new Map(
  [
    "README.md",
    ...readdirSync("docs", { encoding: "utf8", recursive: true }).map((name) => join("docs", name)),
  ]
    .filter((path) => path.endsWith(".md"))
    .map((path) => [path, readFileSync(path, "utf8")]),
);

/** A command line as a page gives it to its reader. */
export interface CommandLine {
  readonly page: string;
  /** Continued lines joined, the comment behind it left out. */
  readonly line: string;
}

const program =
  /^(?:sudo )?(?:cd|fleetgate|npm|npx|node|mosquitto_sub|mosquitto_pub|mosquitto_rr|curl|docker|systemctl|journalctl|dpkg|install|mkdir|tar|ln|cp|systemd-sysusers) \S/;
const assigned = /^(?:[A-Z_]+=\S+ )+/;
const shellFunction = /^(?:fault|happen)(?: '|\(\))/;
const comment = /\s{2,}#.*$|\s# .*$/;

/**
 * Every command line of a page: of its blocks of code first, then of the code inside its sentences and
 * tables. There, two words are the name of a command and no line to copy.
 */
export function commandLines(page: string): readonly CommandLine[] {
  const text = (pages.get(page) ?? "").replace(/\\\n\s*/g, "");
  const blocks = text
    .split("\n")
    .filter((line) => line.startsWith(" "))
    .map((line) => line.trim());
  const inline = Array.from(text.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code);
  const lines = [
    ...blocks,
    ...inline.filter((code) => code.split(" ").length > 2 || shellFunction.test(code)),
  ]
    .filter(isCommandLine)
    .map((line) => line.replace(comment, ""));
  return [...new Set(lines)].map((line) => ({ page, line }));
}

function isCommandLine(text: string): boolean {
  return program.test(text.replace(assigned, "")) || shellFunction.test(text);
}

/** The indented blocks of a page, each as its reader copies it. What a script has made is left out. */
export function codeBlocks(page: string): readonly string[] {
  const text = (pages.get(page) ?? "").replace(/<!-- scripts\/mqtt-doc[\s\S]*?up to here\. -->/g, "");
  const blocks = text.match(/(?<=^\n)(?: {4}.*\n(?:\n(?= {4}))*)+/gm) ?? [];
  return blocks.map((block) => block.replace(/^ {4}/gm, ""));
}

/** The block of one of some pages that begins with a line. */
export function blockOf(from: readonly string[], first: string): string {
  const block = from.flatMap(codeBlocks).find((text) => text.startsWith(first));
  if (block === undefined) throw new Error(`${from.join(", ")}: no block begins with ${first}`);
  return block;
}

/**
 * The topics of a page, under the base, with what stands in for a level in angle brackets. A filter with a
 * wildcard is no topic.
 */
export function topics(page: string): readonly string[] {
  const beginning =
    /^(?:status|health|hold|robots|(?:robots|stations|maps|task_chains|event|clients)\/[^"]+)$/;
  const code = Array.from((pages.get(page) ?? "").matchAll(/`([^`\n]+)`/g), ([, found = ""]) => found);
  return [...new Set(code.filter((text) => beginning.test(text) && !/[+#]/.test(text)))];
}

/** The headings of a page, as the part of a link behind `#`. */
export function anchors(page: string): readonly string[] {
  const headings = (pages.get(page) ?? "").replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
