/** Characters of a line of a comment, and of prose in Markdown. */
export const WIDTH = 110;

/** A line of a page that is not prose: a table, a heading, HTML, code or nothing. */
const noProse = /^(?:\||#|<| {4}|\s*$)/;
const bullet = /^(\s*)((?:[-*] |\d+\. )?)/;

/**
 * Wraps the paragraphs and list items of a page that have a line wider than `WIDTH`; the others stay as they
 * are.
 */
export function wrapMarkdown(text) {
  const lines = text.split("\n");
  const wrapped = [];
  let isInFence = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line.startsWith("```")) isInFence = !isInFence;
    if (isInFence || line.startsWith("```") || noProse.test(line)) {
      wrapped.push(line);
      continue;
    }
    const end = lines.findIndex((next, place) => place > at && endsParagraph(next));
    const paragraph = lines.slice(at, end === -1 ? lines.length : end);
    at += paragraph.length - 1;
    const [, indent, mark] = bullet.exec(line);
    wrapped.push(...wrapParagraph(paragraph, indent + mark, indent + " ".repeat(mark.length)));
  }
  return wrapped.join("\n");
}

function endsParagraph(line) {
  return /^(?:\||#|```|\s*$)/.test(line) || bullet.exec(line)[2] !== "";
}

/** Wraps the comments of a program that have a line wider than `WIDTH`. The program stays as it is. */
export function wrapComments(text) {
  const lines = text.split("\n");
  const wrapped = [];
  for (let at = 0; at < lines.length; at += 1) {
    const comment = commentAt(lines, at);
    if (comment === null || !comment.lines.some(isTooWide)) {
      wrapped.push(lines[at]);
      continue;
    }
    wrapped.push(...comment.wrap());
    at += comment.lines.length - 1;
  }
  return wrapped.join("\n");
}

/** A directive for the linter cannot be wrapped. */
function isTooWide(line) {
  return line.length > WIDTH && !line.includes("biome-ignore");
}

/** The comment that begins in a line, with all its lines; null: there is none. */
function commentAt(lines, at) {
  const [, indent, code] = /^(\s*)(.*)$/.exec(lines[at]);
  const single = /^(\/\*\*?) (.*) \*\/$/.exec(code);
  if (single !== null) {
    const prefix = `${indent} * `;
    const body = fill(single[2], prefix, prefix);
    return { lines: [lines[at]], wrap: () => [indent + single[1], ...body, `${indent} */`] };
  }
  if (/^\/\*\*?$/.test(code)) {
    const end = lines.findIndex((line, place) => place > at && line.includes("*/"));
    const block = lines.slice(at, end + 1);
    const body = () => wrapTexts(block.slice(1, -1), /^\s*\* ?/, `${indent} * `);
    return { lines: block, wrap: () => [block[0], ...body(), block.at(-1)] };
  }
  if (code.startsWith("//")) {
    const end = lines.findIndex((line, place) => place > at && !line.startsWith(`${indent}//`));
    const block = lines.slice(at, end === -1 ? lines.length : end);
    return { lines: block, wrap: () => wrapTexts(block, /^\s*\/\/ ?/, `${indent}// `) };
  }
  const behind = /^(.*\S)\s+\/\/ (.*)$/.exec(code);
  if (behind === null) return null;
  const above = fill(behind[2], `${indent}// `, `${indent}// `);
  return { lines: [lines[at]], wrap: () => [...above, indent + behind[1]] };
}

/** Wraps the paragraphs of a comment; list items and tags begin one. */
function wrapTexts(lines, mark, prefix) {
  const paragraphs = [];
  for (const text of lines.map((line) => line.replace(mark, ""))) {
    const isNew = /^(?:@\w|- |\* |\d+\. |\||\s*$)/.test(text) || paragraphs.at(-1)?.[0].trim() === "";
    if (isNew || paragraphs.length === 0) paragraphs.push([text]);
    else paragraphs.at(-1).push(text);
  }
  return paragraphs.flatMap((texts) => {
    const hang = texts[0].startsWith("- ") ? "  " : "";
    return wrapParagraph(
      texts.map((text) => (prefix + text).trimEnd()),
      prefix,
      prefix + hang,
    );
  });
}

function wrapParagraph(lines, first, rest) {
  if (!lines.some((line) => isTooWide(withoutAddresses(line)))) return lines;
  const texts = lines.map((line, at) =>
    at === 0 ? line.slice(first.length) : line.replace(/^\s*(?:\*|\/\/)?/, ""),
  );
  return fill(texts.join(" "), first, rest);
}

/** Lines that begin with `first`, then with `rest`. Inline code stays whole where a line has room for it. */
function fill(text, first, rest) {
  const words = (text.match(/(?:`[^`]*`|[^\s`]|`)+/g) ?? []).flatMap((word) =>
    rest.length + word.length > WIDTH ? word.split(" ") : [word],
  );
  const lines = [first];
  for (const [at, word] of words.entries()) {
    const line = at === 0 ? first + word : `${lines.at(-1)} ${word}`;
    // A line that began so would be an item of a list.
    const isMark = /^(?:[-+*>#|]+|\d+\.)$/.test(word);
    if (at === 0 || line.length <= WIDTH || isMark) lines[lines.length - 1] = line;
    else lines.push(rest + word);
  }
  return lines;
}

/** A line as its reader sees it, and as wide as it counts. */
export function withoutAddresses(line) {
  return line.replace(/\]\([^)]*\)/g, "]").replace(/\bhttps?:\/\/\S+/g, "");
}
