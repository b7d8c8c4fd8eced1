const LONGEST_ECHO = 64;

/**
 * The beginning of a text that somebody else chose: at most `most` UTF-16 units, with an ellipsis if it was
 * cut.
 */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half a surrogate pair is no character.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}

/** A sender's own text for an answer or a log: quoted, and short enough to read. */
export function quoted(text: string): string {
  return JSON.stringify(clip(text, LONGEST_ECHO));
}
