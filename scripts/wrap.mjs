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

function wrapParagraph(lines, first, rest) {
  if (!lines.some((line) => withoutAddresses(line).length > WIDTH)) return lines;
  const texts = lines.map((line, at) => (at === 0 ? line.slice(first.length) : line.trimStart()));
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
