/** Text that may stand in HTML as it is. Made by the `html` template only. */
export interface Html {
  readonly html: string;
}

/** What may fill a gap of the template: text is escaped, HTML is not, lists are joined. */
export type HtmlPart = string | number | Html | readonly Html[];

/**
 * A template that escapes whatever is put in: a robot's id is any text, and must
 * never become markup. Gaps may stand in element content and in quoted attributes.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = literals[0] ?? "";
  parts.forEach((part, index) => {
    text += rendered(part) + (literals[index + 1] ?? "");
  });
  return { html: text };
}

function rendered(part: HtmlPart): string {
  if (typeof part === "string") return escaped(part);
  if (typeof part === "number") return String(part);
  return "html" in part ? part.html : part.map((item) => item.html).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
