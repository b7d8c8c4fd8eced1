/** Text that is valid HTML. Only the `html` template makes it. */
export interface Html {
  readonly html: string;
}

/** A value for a gap of the template: text is escaped, HTML is not, lists are joined. */
export type HtmlPart = string | number | Html | readonly Html[];

/**
 * A template that escapes its values: a robot's id can be any text, and must never become markup. Gaps may
 * stand in element content and in quoted attributes.
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
