/**
 * A text of a stranger as it may stand on a terminal: what moves the cursor, changes colours or the direction
 * of writing is shown by its number, and long texts are cut.
 */
export function printable(text: string, most = 200): string {
  const shown = text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu,
    (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return shown.length <= most ? shown : `${shown.slice(0, most)}…`;
}
