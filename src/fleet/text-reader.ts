import { BinaryReader } from "@bufbuild/protobuf/wire";

/** Enough for the names of 10,000 robots and their missions; at most some megabytes. */
const PLACES = 32_768;
const LONGEST_BYTES = 64;

/** The texts that were read last, by a hash of their bytes: streams repeat the names of robots and goals. */
const known: string[] = new Array(PLACES).fill("");

/**
 * Reads a short ASCII text as the same string object as before. Finding it takes a tenth of the time of
 * decoding, and leaves no garbage.
 */
export class TextReader extends BinaryReader {
  override string(strict?: boolean): string {
    const begin = this.pos;
    const end = this.uint32() + this.pos;
    const index = end <= this.len ? indexOf(this.buf, this.pos, end) : null;
    const text = index === null ? undefined : known[index];
    if (text !== undefined && isText(text, this.buf, this.pos, end)) {
      this.pos = end;
      return text;
    }
    this.pos = begin;
    const read = super.string(strict);
    if (index !== null) known[index] = read;
    return read;
  }
}

/** The index of a text; null: it is long or not ASCII. */
function indexOf(bytes: Uint8Array, start: number, end: number): number | null {
  if (end - start > LONGEST_BYTES) return null;
  let hash = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) return null;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  return hash & (PLACES - 1);
}

function isText(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
}
