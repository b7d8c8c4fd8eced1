/** The wire types of Protocol Buffers that are written here. */
const VARINT = 0;
const BIT64 = 1;
const LENGTH_DELIMITED = 2;

const FIRST_BYTES = 256;
/** A varint has seven bits in a byte, and ten bytes at most. */
const VARINT_BITS = 128;
const LONGEST_VARINT = 10;
const DOUBLE_BYTES = 8;
/** A character of UTF-16 is three bytes of UTF-8 at most. */
const BYTES_A_CHARACTER = 3;

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
    this.#at += this.#bytes.write(value, this.#at, "utf8");
    this.end(start);
  }

  /** Begins an inner message; what is written until `end` belongs to it. Returns what `end` wants. */
  begin(field: number): number {
    this.#reserve(LONGEST_VARINT + 1);
    this.#tag(field, LENGTH_DELIMITED);
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

  /** What was written. Write nothing more. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= VARINT_BITS; rest = Math.floor(rest / VARINT_BITS)) {
      this.#bytes[this.#at] = (rest % VARINT_BITS) + VARINT_BITS;
      this.#at += 1;
    }
    this.#bytes[this.#at] = rest;
    this.#at += 1;
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
