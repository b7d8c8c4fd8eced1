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
const LOOK_EVERY = 64 * 1024;

/** An answer has a part that is larger than LARGEST_PART, or more than MOST_ELEMENTS. */
class PartTooLarge extends Error {
  override readonly name = "PartTooLarge";

  constructor(problem = `one part of the answer is larger than ${LARGEST_PART} characters`) {
    super(problem);
  }
}

/**
 * Finds the list that is a member of the JSON object `text` under one of `names`, in time slices. Null: there
 * is none. The parser checks whether the parts are JSON. Rejects with PartTooLarge.
 */
export async function splitList(
  text: string,
  names: readonly string[],
  slices: TimeSlices,
): Promise<SplitList | null> {
  const scan: Scan = { names, depth: 0, name: "", list: null, from: 0, to: 0 };
  for (let at = 0, look = LOOK_EVERY; at < text.length && scan.to === 0; at += 1) {
    at = step(scan, text, at);
    if (at < look) continue;
    look = at + LOOK_EVERY;
    await slices.next();
  }
  if (scan.list === null || scan.to === 0) {
    if (text.length > LARGEST_PART) throw new PartTooLarge();
    return null;
  }
  const rest = `${text.slice(0, scan.list.at)}[]${text.slice(scan.to)}`;
  if (rest.length > LARGEST_PART) throw new PartTooLarge();
  return { elements: scan.list.elements, rest };
}

interface Scan {
  readonly names: readonly string[];
  depth: number;
  /** The last text at the object's own level: the name of a member, when its value begins. */
  name: string;
  list: { readonly at: number; readonly elements: string[] } | null;
  /** The offset of the element that is being scanned. */
  from: number;
  /** The offset after the list; 0: its end was not seen yet. */
  to: number;
}

/** Scans the token at `at`, and returns the offset of its end. */
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
        if (scan.list.elements.length > 0 || last.trim() !== "") addElement(scan.list.elements, last);
        scan.to = at + 1;
      }
      return at;
    case ",":
      if (scan.depth === 2 && scan.list !== null) {
        addElement(scan.list.elements, text.slice(scan.from, at));
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

/**
 * The offset of the closing quote, or of the end of the text. Scans a text of any length in one time slice.
 */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    if (end - at > LARGEST_PART) throw new PartTooLarge();
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
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
