// How a page's Markdown becomes HTML of the manual: the anchors of GitHub, links that lead to pages of the
// manual, nothing that its Content-Security-Policy refuses. It also collects what the search reads.
import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";

/** Of pages outside docs/, their name in the manual. */
const besideDocs = { "SECURITY.md": "security", "CHANGELOG.md": "changelog" };
const outside = /^[a-z]+:/;

/** The part of a link behind `#`, as GitHub makes it of a heading. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * @param markdown an instance of markdown-it
 * @param manual gets `sections`, `parts` and `files`
 */
export function amend(markdown, manual) {
  markdown.set({ html: true });
  markdown.enable("code");
  markdown.core.ruler.push("manual", ({ tokens, env }) => {
    const page = { ...{ name: env.name, sections: [], parts: [], slugs: new Map() }, manual };
    manual.parts[page.name] = page.parts;
    tokens.forEach((token, at) => {
      if (token.type === "heading_open") begin(page, token, tokens[at + 1]);
      else if (token.type === "inline") readInline(page, token, tokens[at - 1]?.type === "heading_open");
      else if (token.type === "fence" || token.type === "code_block") say(page, token.content);
      else if (token.type === "html_block") findAnchors(page, token.content);
      // Nothing heads that column: a heading without words is none.
      if (token.type === "th_open" && tokens[at + 1].content === "") token.tag = tokens[at + 2].tag = "td";
      if (token.attrGet("style") !== null) align(token);
    });
    manual.sections.push(...page.sections.filter(({ heading, text }) => heading !== "" || text.length > 0));
  });
  const { rules } = markdown.renderer;
  // What scrolls by itself must be reachable by the keyboard.
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>\n';
  rules.table_close = () => "</table></div>\n";
  const code = (tokens, at) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[at].content)}</code></pre>\n`;
  rules.fence = code;
  rules.code_block = code;
}

/** A heading begins a section; a second one with the same words gets a number. */
function begin(page, token, inline) {
  const slug = slugOf(inline.content);
  const before = page.slugs.get(slug) ?? 0;
  page.slugs.set(slug, before + 1);
  const anchor = before === 0 ? slug : `${slug}-${before}`;
  token.attrSet("id", anchor);
  const heading = textOf(inline);
  if (token.tag === "h2") page.parts.push({ anchor, heading });
  open(page, token.tag === "h1" ? "" : anchor, heading);
}

function open(page, anchor, heading) {
  page.sections.push({ name: page.name, at: page.sections.length, anchor, heading, text: [] });
}

function say(page, text) {
  if (page.sections.length === 0) open(page, "", "");
  page.sections.at(-1).text.push(text);
}

function readInline(page, token, isHeading) {
  let isDropped = false;
  for (const child of token.children) {
    if (child.type === "link_open") {
      const address = addressOf(page.manual, child.attrGet("href"));
      isDropped = address === null;
      child.hidden = isDropped;
      if (address !== null) child.attrSet("href", address);
      if (outside.test(address ?? "")) child.attrSet("rel", "noreferrer");
    } else if (child.type === "link_close") child.hidden = isDropped;
    else if (child.type === "html_inline") findAnchors(page, child.content, textOf(token));
  }
  if (!isHeading) say(page, textOf(token));
}

/** `<a id="robot_lost"></a>`, before a row of a table or a paragraph: a section of its own. */
function findAnchors(page, html, heading = "") {
  for (const [, anchor] of html.matchAll(/\bid="([^"]+)"/g))
    open(page, anchor, heading === "" ? anchor : heading);
}

function textOf({ children }) {
  return children
    .map(({ type, content }) => (type === "softbreak" ? " " : type === "html_inline" ? "" : content))
    .join("");
}

/** Of a link of a page: its address in the manual; null: what it leads to is not there. */
function addressOf(manual, link) {
  if (outside.test(link) || link.startsWith("#")) return link;
  const [file, anchor] = link.split("#");
  const behind = anchor === undefined ? "" : `#${anchor}`;
  const path = posix.normalize(posix.join("docs", decodeURIComponent(file)));
  const name = besideDocs[path] ?? /^docs\/([\w-]+)\.md$/.exec(path)?.[1];
  if (name !== undefined) return manual.names.includes(name) ? `${name}.html${behind}` : null;
  const full = join(manual.root, path);
  const isFile = existsSync(full) && statSync(full).isFile();
  if (path.startsWith("docs/internals/") || path.startsWith("..") || path.endsWith(".md") || !isFile)
    return null;
  manual.files.add(path);
  return `files/${path}`;
}

/** An attribute `style` is refused by the policy. */
function align(token) {
  const [, side] = /text-align:\s*(\w+)/.exec(token.attrGet("style")) ?? [];
  token.attrs = token.attrs.filter(([name]) => name !== "style");
  if (side !== undefined) token.attrJoin("class", side);
}
