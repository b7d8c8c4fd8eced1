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

/** The longest robot id or mission id, in UTF-16 units. */
export const LONGEST_IDENTIFIER = 256;
/**
 * The same in bytes of UTF-8. Percent-encoding makes three bytes of each: 1,536. With its prefix that fits a
 * key of the store (1,900 bytes) and a topic.
 */
export const LONGEST_IDENTIFIER_BYTES = 512;

/** U+FFFD too: it replaces bytes that were no text, so two different ids may look the same. */
const notPlain = /[\p{Cc}\p{Surrogate}\p{Noncharacter_Code_Point}\u2028\u2029\ufffd]/u;
const plain = /^[\x20-\x7e]*$/;

/** What is wrong with an identifier from outside; null: nothing. */
export function identifierFault(text: string): string | null {
  if (text === "") return "is empty";
  if (text.length > LONGEST_IDENTIFIER) return `is longer than ${LONGEST_IDENTIFIER} characters`;
  if (plain.test(text)) return null;
  if (notPlain.test(text)) return "has characters that cannot be shown";
  if (encodeURIComponent(text).replace(/%../g, "%").length > LONGEST_IDENTIFIER_BYTES) {
    return `is longer than ${LONGEST_IDENTIFIER_BYTES} bytes`;
  }
  return null;
}

/** Whether it can be a key, a topic level and a NodeId, once it is encoded. */
export function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && identifierFault(value) === null;
}

const LARGEST_INT32 = 2_147_483_647;

/** Whether it is a number by which the service names something: an integer of 32 bits, at least `least`. */
export function isIdentifierNumber(value: unknown, least: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= LARGEST_INT32;
}
