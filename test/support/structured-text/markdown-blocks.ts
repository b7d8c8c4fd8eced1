const fence = /^( {0,3})(`{3,})\s*(\w*)[^`]*$/;

/**
 * The ```iecst blocks of a Markdown page. Each begins with as many empty lines as the page has lines
 * before it: so the lines of errors are those of the page.
 * `parseStructuredText(...blocks)` reads them as one program.
 */
export function structuredTextOf(markdown: string): string[] {
  const blocks: string[] = [];
  let open: { readonly fence: string; readonly language: string; readonly lines: string[] } | null = null;
  for (const [index, line] of markdown.split("\n").entries()) {
    const [, , marks = "", language = ""] = fence.exec(line) ?? [];
    if (open === null) {
      if (marks !== "") open = { fence: marks, language, lines: Array(index + 1).fill("") };
    } else if (language === "" && marks.length >= open.fence.length) {
      if (open.language === "iecst") blocks.push(open.lines.join("\n"));
      open = null;
    } else open.lines.push(line);
  }
  return blocks;
}
