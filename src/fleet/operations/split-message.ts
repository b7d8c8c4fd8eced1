import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Turns } from "../../platform/turns.ts";

/** A message with its list of messages apart. Nothing is decoded yet. */
export interface SplitMessage {
  /** The elements of the list, in its order. */
  readonly elements: readonly Uint8Array[];
  /** The message without the list. */
  readonly rest: Uint8Array;
}

/**
 * Finds the elements of the list with this field number, in turns of the event loop: an empty element has two
 * bytes, so there may be 100,000. Rejects if the bytes are no message.
 */
export async function splitMessage(
  bytes: Uint8Array,
  listNumber: number,
  turns: Turns,
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
    await turns.next();
  }
  return { elements, rest: Buffer.concat(rest) };
}
