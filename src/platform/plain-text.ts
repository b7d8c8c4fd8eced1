/** Characters that could move the cursor, change colours, or reverse the order of text on a terminal. */
const notPlain = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/** A foreign text for a terminal: characters that do not print become `\u001b`. */
export function plain(text: string): string {
  return text.replace(notPlain, escaped);
}

/** The same for a text of several lines. */
export function plainLines(text: string): string {
  return text.split("\n").map(plain).join("\n");
}

/** The first characters of the result, at most so many. */
export function plainStart(text: string, most: number): string {
  const shown = plain(text);
  return shown.length <= most ? shown : `${shown.slice(0, most)}…`;
}

/** One line of JSON that a terminal shows unchanged. It parses to the same value. */
export function jsonLine(value: unknown): string {
  return plain(JSON.stringify(value));
}

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at += 1)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}
