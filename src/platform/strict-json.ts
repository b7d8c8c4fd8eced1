/** A JSON text that was read strictly. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly kind: "syntax"; readonly message: string }
  | { readonly ok: false; readonly kind: "nested"; readonly deepest: number }
  | {
      readonly ok: false;
      readonly kind: "repeated";
      /** As JSON.parse reads it: the last value of each repeated key. */
      readonly value: unknown;
      /** The path of the first object with a repeated key: keys, and indexes of lists. */
      readonly path: readonly (string | number)[];
      readonly key: string;
      /** The keys that the outermost object repeats. */
      readonly atTop: ReadonlySet<string>;
    };

/** Objects and lists in each other, more than any text needs. Thousands would hold the event loop. */
const DEEPEST_LEVEL = 100;

/**
 * Reads JSON and refuses what RFC 8259 leaves open: an object with the same key twice. JSON.parse uses the
 * last, another reader the first. A command must not be understood in two ways.
 */
export function readJson(text: string): JsonReading {
  if (isTooDeep(text)) return { ok: false, kind: "nested", deepest: DEEPEST_LEVEL };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, kind: "syntax", message: error.message };
    throw error;
  }
  const repeated = findRepeated(text);
  return repeated === null ? { ok: true, value } : { ok: false, kind: "repeated", value, ...repeated };
}

/** An open object or list. */
interface Level {
  /** Null: none was read. */
  keys: Set<string> | null;
  /** The key, or the index in a list, that is being read. */
  at: string | number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Scans `text`, which may be no JSON, up to the first level too many. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1;
        if (depth > DEEPEST_LEVEL) return true;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        break;
      default:
        break;
    }
  }
  return false;
}

/** Scans `text`, which is JSON, once: only characters that open, close or separate matter. */
function findRepeated(
  text: string,
): Omit<Extract<JsonReading, { kind: "repeated" }>, "ok" | "kind" | "value"> | null {
  const levels: Level[] = [];
  const atTop = new Set<string>();
  let level: Level | undefined;
  let isKey = false;
  let first: { readonly path: readonly (string | number)[]; readonly key: string } | null = null;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index);
        if (isKey && level !== undefined) {
          const key = keyOf(text, index, end);
          level.keys ??= new Set();
          if (level.keys.has(key)) {
            first ??= { path: levels.slice(0, -1).map(({ at }) => at), key };
            if (levels.length === 1) atTop.add(key);
          }
          level.keys.add(key);
          level.at = key;
          isKey = false;
        }
        index = end;
        break;
      }
      case COMMA:
        if (typeof level?.at === "number") level.at += 1;
        else isKey = true;
        break;
      case OPEN_OBJECT:
        level = { keys: null, at: "" };
        levels.push(level);
        isKey = true;
        break;
      case OPEN_LIST:
        level = { keys: null, at: 0 };
        levels.push(level);
        isKey = false;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop();
        level = levels.at(-1);
        isKey = false;
        break;
      default:
        break;
    }
  }
  return first === null ? null : { ...first, atTop };
}

/** The offset of the quote that ends the string which begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let before = index;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (index - before) % 2 === 1;
}

/** Parsed, because the same key may be written in many ways. */
function keyOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes("\\") ? String(JSON.parse(text.slice(start, end + 1))) : raw;
}
