import type { Turns } from "../../platform/turns.ts";

/** A JSON object whose list is apart from it. Nothing was parsed yet: each part is a text of its own. */
export interface SplitList {
  /** The elements of the list, in its order. */
  readonly elements: readonly string[];
  /** The object with an empty list in its place. */
  readonly rest: string;
}

/** What is parsed in one go. With more of it, a list of numbers takes longer than a turn may. */
const LARGEST_PART = 256 * 1024;
const LOOK_EVERY = 64 * 1024;

/** An answer has a part that is larger than LARGEST_PART. */
class PartTooLarge extends Error {
  override readonly name = "PartTooLarge";

  constructor() {
    super(`one part of the answer is larger than ${LARGEST_PART} characters`);
  }
}

/**
 * Finds the list that is a member of the JSON object `text` under one of `names`, in turns. Null when there
 * is none. Whether the parts are JSON is for the parser to say. Rejects with PartTooLarge.
 */
export async function splitList(
  text: string,
  names: readonly string[],
  turns: Turns,
): Promise<SplitList | null> {
  const scan: Scan = { names, depth: 0, name: "", list: null, from: 0, to: 0 };
  for (let at = 0, look = LOOK_EVERY; at < text.length && scan.to === 0; at += 1) {
    at = step(scan, text, at);
    if (at < look) continue;
    look = at + LOOK_EVERY;
    await turns.next();
  }
  if (scan.list === null || scan.to === 0) {
    if (text.length > LARGEST_PART) throw new PartTooLarge();
    return null;
  }
  const rest = `${text.slice(0, scan.list.at)}[]${text.slice(scan.to)}`;
  const { elements } = scan.list;
  if (rest.length > LARGEST_PART || elements.some(({ length }) => length > LARGEST_PART)) {
    throw new PartTooLarge();
  }
  return { elements, rest };
}

interface Scan {
  readonly names: readonly string[];
  depth: number;
  /** The last text at the object's own level: a member's name, when its value begins. */
  name: string;
  list: { readonly at: number; readonly elements: string[] } | null;
  /** Where the element begins that is looked through. */
  from: number;
  /** Behind the list; 0 while its end was not seen. */
  to: number;
}

/** Takes in what begins at `at`, and says where that ends. */
function step(scan: Scan, text: string, at: number): number {
  switch (text[at]) {
    case '"': {
      const end = endOfString(text, at);
      if (scan.depth === 1) scan.name = text.slice(at + 1, end);
      return end;
    }
    case "{":
    case "[":
      scan.depth += 1;
      if (scan.depth === 2 && text[at] === "[" && scan.list === null && scan.names.includes(scan.name)) {
        scan.list = { at, elements: [] };
        scan.from = at + 1;
      }
      return at;
    case "}":
    case "]":
      scan.depth -= 1;
      if (scan.depth === 1 && scan.list !== null && text[at] === "]") {
        const last = text.slice(scan.from, at);
        if (scan.list.elements.length > 0 || last.trim() !== "") scan.list.elements.push(last);
        scan.to = at + 1;
      }
      return at;
    case ",":
      if (scan.depth === 2 && scan.list !== null) {
        scan.list.elements.push(text.slice(scan.from, at));
        scan.from = at + 1;
      }
      return at;
    default:
      return at;
  }
}

/** Where the closing quote stands, or the end of the text. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
