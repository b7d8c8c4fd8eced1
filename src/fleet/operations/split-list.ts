import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { TimeSlices } from "../../platform/loop-time.ts";

/** A JSON object with its list apart. Nothing is parsed yet: each part is a text of its own. */
export interface SplitList {
  /** The elements of the list, in its order. */
  readonly elements: readonly string[];
  /** The object with an empty list instead. */
  readonly rest: string;
}

/**
 * The largest part that is parsed in one go. In a larger one, a list of numbers takes longer than a time
 * slice may.
 */
const LARGEST_PART = 256 * 1024;
/**
 * More than the points of a map or the robots of a fleet. Each element costs memory beside its text, which
 * may be empty.
 */
const MOST_ELEMENTS = 50_000;
/** So many characters are scanned between two looks at the time: each of them may end an element. */
const LOOK_EVERY = 4 * 1024;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);

/** An answer has a part that is larger than LARGEST_PART, or more than MOST_ELEMENTS. */
class PartTooLarge extends Error {
  override readonly name = "PartTooLarge";

  constructor(problem = `one part of the answer is larger than ${LARGEST_PART} characters`) {
    super(problem);
  }
}

/**
 * Finds the list that is a member of a JSON object under one of `names`, in time slices. The object's text
 * comes in pieces, of which only the part that is being scanned is joined. Null: there is no such list. The
 * parser checks whether the parts are JSON. Rejects with PartTooLarge, and if the text ends within the list.
 */
export async function splitList(
  pieces: readonly string[],
  names: readonly string[],
  slices: TimeSlices,
): Promise<SplitList | null> {
  const scan: Scan = { names, depth: 0, name: "", head: null, elements: [], isOver: false, from: 0 };
  let text = "";
  let at = 0;
  for (const piece of pieces) {
    const kept = text.slice(scan.from);
    if (kept.length > LARGEST_PART) throw new PartTooLarge();
    text = kept + piece;
    at -= scan.from;
    scan.from = 0;
    for (let look = at + LOOK_EVERY; at < text.length && !scan.isOver; at += 1) {
      const end = step(scan, text, at);
      // A string goes on in the next piece, and is scanned anew with it.
      if (end === text.length) break;
      at = end;
      if (at < look) continue;
      look = at + LOOK_EVERY;
      await slices.next();
    }
    if (scan.isOver) at = text.length;
    await slices.next();
  }
  const kept = text.slice(scan.from);
  if (kept.length > LARGEST_PART) throw new PartTooLarge();
  if (scan.head === null) return null;
  if (!scan.isOver) throw new SyntaxError("the text ends within its list");
  const rest = `${scan.head}[]${kept}`;
  if (rest.length > LARGEST_PART) throw new PartTooLarge();
  return { elements: scan.elements, rest };
}

interface Scan {
  readonly names: readonly string[];
  depth: number;
  /** The last text at the object's own level: the name of a member, when its value begins. */
  name: string;
  /** What stands before the list; null: its beginning was not seen yet. */
  head: string | null;
  readonly elements: string[];
  /** The end of the list was seen. */
  isOver: boolean;
  /** From here the text is needed yet: all before the list, the element that is scanned, what follows. */
  from: number;
}

/** Scans the token at `at`. Returns the offset of its last character; the text's length if it has no end. */
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
      if (scan.depth === 2 && text[at] === "[" && scan.head === null && scan.names.includes(scan.name)) {
        scan.head = text.slice(scan.from, at);
        scan.from = at + 1;
      }
      return at;
    case "}":
    case "]":
      scan.depth -= 1;
      if (scan.depth === 1 && scan.head !== null && text[at] === "]") {
        const last = text.slice(scan.from, at);
        if (scan.elements.length > 0 || last.trim() !== "") addElement(scan.elements, last);
        scan.from = at + 1;
        scan.isOver = true;
      }
      return at;
    case ",":
      if (scan.depth === 2 && scan.head !== null) {
        addElement(scan.elements, text.slice(scan.from, at));
        scan.from = at + 1;
      }
      return at;
    default:
      return at;
  }
}

function addElement(elements: string[], element: string): void {
  if (element.length > LARGEST_PART) throw new PartTooLarge();
  if (elements.length === MOST_ELEMENTS) {
    throw new PartTooLarge(`the answer lists more than ${MOST_ELEMENTS} elements`);
  }
  elements.push(element);
}

/** The offset of the closing quote, or of the end of the text. */
function endOfString(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end += 1) {
    if (end - at > LARGEST_PART) throw new PartTooLarge();
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    if (code === BACKSLASH) end += 1;
  }
  return text.length;
}

/** A message with its list of messages apart. Nothing is decoded yet. */
export interface SplitMessage {
  /** The elements of the list, in its order. */
  readonly elements: readonly Uint8Array[];
  /** The message without the list. */
  readonly rest: Uint8Array;
}

/**
 * Finds the elements of the list with this field number, in time slices: an empty element has two
 * bytes, so there may be 100,000. Rejects if the bytes are no message.
 */
export async function splitMessage(
  bytes: Uint8Array,
  listNumber: number,
  slices: TimeSlices,
): Promise<SplitMessage> {
  const reader = new BinaryReader(bytes);
  const elements: Uint8Array[] = [];
  const rest: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const [number, wireType] = reader.tag();
    if (number === listNumber && wireType === WireType.LengthDelimited) elements.push(reader.bytes());
    else {
      reader.skip(wireType, number);
      rest.push(bytes.subarray(from, reader.pos));
    }
    await slices.next();
  }
  return { elements, rest: Buffer.concat(rest) };
}
