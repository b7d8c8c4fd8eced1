const MOST_NAMES = 8;

/** The first names, and the number of further ones. */
export function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

const WIDTH = 100;

/** Names in lines for a terminal. */
export function wrapped(names: readonly string[]): readonly string[] {
  if (names.length === 0) return ["nothing"];
  const lines: string[] = [""];
  for (const [index, name] of names.entries()) {
    const text = index === names.length - 1 ? name : `${name}, `;
    const last = lines.length - 1;
    if ((lines[last] ?? "").length + text.length > WIDTH) lines.push(text);
    else lines[last] += text;
  }
  return lines.map((line) => line.trimEnd());
}
