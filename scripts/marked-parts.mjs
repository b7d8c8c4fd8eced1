import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { writeMade } from "./made-files.mjs";
import { wrapMarkdown } from "./wrap.mjs";

const docs = join(import.meta.dirname, "..", "docs");

/** A page of docs. */
export const readPage = (name) => readFileSync(join(docs, name), "utf8");

/**
 * Writes the marked parts of a page. The rest of it is written by hand. With --check it writes nothing, and
 * the process fails when the page is not up to date.
 *
 * @param parts the lines of each part, by the names of their marks
 */
export function writeParts(name, parts) {
  const script = basename(process.argv[1]);
  const text = wrapMarkdown(
    Object.entries(parts).reduce((page, [part, lines]) => {
      const [begin, end] = [`<!-- ${part}, by scripts/${script} -->\n`, `\n<!-- end of ${part} -->`];
      const [from, to] = [page.indexOf(begin), page.indexOf(end)];
      if (from === -1 || to < from) throw new Error(`docs/${name} has no marks for ${part}`);
      return `${page.slice(0, from + begin.length)}\n${lines.join("\n")}\n${page.slice(to)}`;
    }, readPage(name)),
  );
  writeMade([[join(docs, name), text]]);
}
