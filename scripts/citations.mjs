import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { slugOf } from "./manual-markdown.mjs";

/** Documents that Fleetgate was begun with. A reader of the repository cannot look them up. */
const foreign =
  /\b[Ww]ire[- ]facts\b|\b[Pp]itfalls\b|\b[Ff]leet[- ]service[- ]interface\b|\binterface\s+document\b|\b(?:[Tt]he|see)\s+design\b|[(]design\b|\bdesign,\s+[A-Z]|\b(?:design|words)\.md\b/g;
const anyPage = /(?<![\w/.*-])[\w./-]*\w\.md\b/g;
const anySource = /(?<![\w/.*-])(?:src|test|scripts|bench|config|packaging|proto)\/[\w./-]*\w\.\w+\b/g;
const citation = /\bdocs\/(?:internals\/)?[\w-]+\.md(?:#(?<anchor>[\w-]+)|["`]?,\s+"?(?=[A-Z`]))?/g;

const pages = new Map(
  readdirSync("docs", { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .map((name) => [`docs/${name}`, sectionsOf(readFileSync(join("docs", name), "utf8"))]),
);

/**
 * What is wrong with the documents that a text cites: each must be in the repository, and so must the section
 * behind it, as in `docs/alarms.md, Urgent` or `docs/internals/service.md, ERR-47` (a heading, or the id of a
 * row).
 */
export function citationProblems(path, text) {
  const flat = text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|#+)?[ \t]*/g, (found) => " ".repeat(found.length));
  const problem = (index, what) => `${path}:${text.slice(0, index).split("\n").length}: ${what}`;
  const foreignOnes = Array.from(flat.matchAll(foreign), ({ index, 0: name }) =>
    problem(
      index,
      `"${name.replace(/\s+/g, " ")}" is no document of the repository; cite a section of docs/, or give the reason`,
    ),
  );
  const missing = [...flat.matchAll(anyPage), ...flat.matchAll(anySource)]
    .filter(({ index }) => path.endsWith(".md") || isInComment(text, index))
    .filter(({ 0: file }) => !["", "docs", dirname(path)].some((folder) => existsSync(join(folder, file))))
    .map(({ index, 0: file }) => problem(index, `${file} is no file of the repository`));
  return [...foreignOnes, ...missing, ...Array.from(flat.matchAll(citation)).flatMap(sectionProblem)];

  function sectionProblem({ index, 0: found, groups: { anchor } }) {
    const [page] = found.match(/^[\w/-]+\.md/);
    const sections = pages.get(page);
    const rest = flat.slice(index + found.length);
    if (sections === undefined || (anchor === undefined && !found.includes(","))) return [];
    if (sections.some((section) => (anchor ? section.anchor === anchor : section.begins.test(rest))))
      return [];
    const cited = anchor ? `#${anchor}` : rest.replace(/\s+/g, " ").slice(0, 40);
    return [problem(index, `${page} has no section "${cited}"; cite a heading of it, or the id of a row`)];
  }
}

function isInComment(text, index) {
  const line = text.slice(text.lastIndexOf("\n", index) + 1, index);
  return /^\s*(?:\/\/|\/?\*|#)|\s\/\/ |\s# /.test(line);
}

function sectionsOf(text) {
  const headings = text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm);
  const ids = text.matchAll(/^\| ([A-Z]{3}-\d+) \|/gm);
  return [...headings, ...ids].map(([, name]) => ({
    anchor: slugOf(name),
    begins: new RegExp(`^${name.split(" ").map(escaped).join("\\s+")}(?!\\w)`),
  }));
}

function escaped(word) {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
