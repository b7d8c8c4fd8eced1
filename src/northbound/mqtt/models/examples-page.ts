import { type Example, examples } from "./examples.ts";
import { channels } from "./messages.ts";

const BEGIN = "<!-- Made by scripts/mqtt-doc.mjs from here on. -->\n";
const END = "<!-- Made by scripts/mqtt-doc.mjs up to here. -->\n";

/** A page with its present examples: the text between the two marks is replaced. */
export function examplesPage(page: string): string {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start === -1 || end === -1) throw new Error("the page has no marks for its examples");
  return `${page.slice(0, start)}${BEGIN}\n${blocks("gateway")}\nWhat clients publish:\n\n${blocks("client")}\n${page.slice(end)}`;
}

function blocks(from: "gateway" | "client"): string {
  const names = new Set(
    channels.filter((channel) => channel.from === from).flatMap(({ messages }) => Object.keys(messages)),
  );
  return examples
    .filter(({ message }) => names.has(message))
    .map(blockOf)
    .join("\n");
}

function blockOf({ topic, payload }: Example): string {
  return `    ${topic}\n    ${payload}\n`;
}
