/** The wire types of Protocol Buffers that are written here. */
const VARINT = 0;
const BIT64 = 1;
const LENGTH_DELIMITED = 2;

const FIRST_BYTES = 256;
/** A varint has seven bits in a byte, and ten bytes at most. */
const VARINT_BITS = 128;
const LONGEST_VARINT = 10;
/** What four bytes of a varint hold is below it. */
const FOUR_BYTES = 2 ** 28;
const DOUBLE_BYTES = 8;
/** A character of UTF-16 is three bytes of UTF-8 at most. */
const BYTES_A_CHARACTER = 3;
const LONGEST_ASCII = 32;

/**
 * Writes a message of Protocol Buffers by field numbers, into one buffer. The writer of @bufbuild/protobuf
 * makes an array and a buffer for each text and each inner message (docs/internals/decisions.md, A writer of
 * our own writes the messages of Sparkplug).
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** A field of an integer type. @param value a negative one is written as two's complement of 64 bits */
  integer(field: number, value: number): void {
    this.#reserve(2 * LONGEST_VARINT);
    this.#tag(field, VARINT);
    if (value < 0) this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    else this.#varint(value);
  }

  boolean(field: number, value: boolean): void {
    this.integer(field, value ? 1 : 0);
  }

  double(field: number, value: number): void {
    this.#reserve(LONGEST_VARINT + DOUBLE_BYTES);
    this.#tag(field, BIT64);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Half of a surrogate pair becomes U+FFFD. */
  text(field: number, value: string): void {
    const start = this.begin(field);
    this.#reserve(BYTES_A_CHARACTER * value.length);
    if (!this.#ascii(value)) this.#at += this.#bytes.write(value, this.#at, "utf8");
    this.end(start);
  }

  /** Begins an inner message; what is written until `end` belongs to it. Returns what `end` wants. */
  begin(field: number): number {
    this.#reserve(LONGEST_VARINT + 1);
    this.#tag(field, LENGTH_DELIMITED);
    return this.beginLength();
  }

  /** Begins what has its length before it, as an inner message. */
  beginLength(): number {
    this.#reserve(1);
    this.#at += 1;
    return this.#at;
  }

  /** Ends the inner message that began there, and writes its length before it. */
  end(start: number): void {
    const length = this.#at - start;
    let more = 0;
    for (let rest = length; rest >= VARINT_BITS; rest = Math.floor(rest / VARINT_BITS)) more += 1;
    if (more > 0) {
      this.#reserve(more);
      this.#bytes.copyWithin(start + more, start, this.#at);
    }
    this.#at = start - 1;
    this.#varint(length);
    this.#at += length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Of what was written. */
  get length(): number {
    return this.#at;
  }

  /** Drops what was written beyond it. */
  cut(length: number): void {
    this.#at = length;
  }

  /** A copy of what was written, after which the writer begins anew. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    return taken;
  }

  /** What was written. Write nothing more. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Writes a short text of ASCII, faster than `Buffer.write`; returns false for any other. */
  #ascii(value: string): boolean {
    const { length } = value;
    if (length > LONGEST_ASCII) return false;
    const bytes = this.#bytes;
    const start = this.#at;
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      bytes[start + index] = code;
    }
    this.#at = start + length;
    return true;
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let rest = value;
    if (value >= FOUR_BYTES) {
      // As a time: whole numbers of 32 bits are several times as fast.
      rest = Math.floor(value / FOUR_BYTES);
      let low = value - rest * FOUR_BYTES;
      for (const end = at + 4; at < end; at += 1, low >>>= 7) bytes[at] = (low & 0x7f) | VARINT_BITS;
    }
    for (; rest >= VARINT_BITS; at += 1, rest >>>= 7) bytes[at] = (rest & 0x7f) | VARINT_BITS;
    bytes[at] = rest;
    this.#at = at + 1;
  }

  #bigVarint(value: bigint): void {
    let rest = value;
    for (; rest >= BigInt(VARINT_BITS); rest /= BigInt(VARINT_BITS)) {
      this.#bytes[this.#at] = Number(rest % BigInt(VARINT_BITS)) + VARINT_BITS;
      this.#at += 1;
    }
    this.#bytes[this.#at] = Number(rest);
    this.#at += 1;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#bytes.length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
