// Holds what people read to its measures: lines of at most 110 characters in Markdown and in comments, and
// sentences of at most 30 words in Markdown, the changelog aside. What these files cite, and those of the
// configuration and the packaging, must be in the repository. --fix wraps the lines of Markdown first. With
// names of files it checks these alone.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { TextlintKernel } from "@textlint/kernel";
import markdownModule from "@textlint/textlint-plugin-markdown";
import { citationProblems } from "./citations.mjs";
import { sentenceLength } from "./sentence-length.mjs";
import { WIDTH, withoutAddresses, wrapMarkdown } from "./wrap.mjs";

const markdown = markdownModule.default;
const kernel = new TextlintKernel();
const isProse = /\.(?:md|tsx?|mjs)$/;
const isOther = /\.(?:ya?ml|acl|proto|sh|pl|service|conf)$/;

const isFixing = process.argv.includes("--fix");
const given = process.argv.slice(2).filter((argument) => argument !== "--fix");
const own = [
  "README.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...["docs", "src", "test", "bench", "scripts", "packaging", "config", "proto", "systemd"].flatMap(
    filesUnder,
  ),
];
const files = given.length > 0 ? given : own;
if (isFixing) for (const path of files) fix(path);
const problems = (await Promise.all(files.map(problemsOf))).flat();
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} problems`);
if (problems.length > 0 || files.length === 0) process.exit(1);

function filesUnder(folder) {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return files.filter(
    (path) => (isProse.test(path) || isOther.test(path)) && !path.startsWith(join("src", "wire")),
  );
}

function fix(path) {
  if (extname(path) !== ".md") return;
  const text = readFileSync(path, "utf8");
  const wrapped = wrapMarkdown(text);
  if (wrapped !== text) writeFileSync(path, wrapped);
}

async function problemsOf(path) {
  const text = readFileSync(path, "utf8");
  const cited = path === "CHANGELOG.md" ? [] : citationProblems(path, text);
  if (!isProse.test(path)) return cited;
  if (extname(path) !== ".md") return [...cited, ...tooWide(path, text, isComment)];
  const prose = await proseLines(path, text);
  return [
    ...cited,
    ...tooWide(path, text, (_line, at) => prose.has(at)),
    ...(await longSentences(path, text)),
  ];
}

function tooWide(path, text, isHeld) {
  return text.split("\n").flatMap((line, at) => {
    const { length } = withoutAddresses(line);
    if (length <= WIDTH || !isHeld(line, at + 1)) return [];
    return [`${path}:${at + 1}: ${length} characters, at most ${WIDTH}`];
  });
}

/** A directive for the linter cannot be wrapped. */
function isComment(line) {
  return /^\s*(?:\/\/|\/?\*)|\s\/\/ /.test(line) && !line.includes("biome-ignore");
}

/** The lines of a page that are neither a table nor code nor HTML. */
async function proseLines(path, text) {
  const lines = new Set();
  const collect = ({ Syntax }) => ({
    [Syntax.Paragraph]({ loc, parent }) {
      if (parent.type === "TableCell") return;
      for (let line = loc.start.line; line <= loc.end.line; line += 1) lines.add(line);
    },
  });
  await lint(path, text, "prose-lines", collect);
  return lines;
}

async function longSentences(path, text) {
  if (path === "CHANGELOG.md") return [];
  const { messages } = await lint(path, text, "sentence-length", sentenceLength);
  return messages.map(({ line, message }) => `${path}:${line}: ${message}`);
}

function lint(path, text, ruleId, rule) {
  return kernel.lintText(text, {
    filePath: path,
    ext: extname(path),
    plugins: [{ pluginId: "markdown", plugin: markdown }],
    rules: [{ ruleId, rule }],
  });
}
