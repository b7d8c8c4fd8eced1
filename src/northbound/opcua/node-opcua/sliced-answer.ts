import { BinaryStream, type StatusCode, StatusCodes } from "node-opcua";

/** An answer of a service that works on a list: its header, the results, and mostly diagnostics. */
export interface ListAnswer {
  readonly responseHeader: { encode(stream: BinaryStream): void; readonly serviceResult: StatusCode };
  encode(stream: BinaryStream): void;
}

/** The limit of bytes in an answer, as in a request. */
const MOST_BYTES = 8 * 1024 * 1024;
const COUNT_BYTES = 4;
const NO_DIAGNOSTICS = 0xffff_ffff;

/** The answer to a long request, assembled slice by slice. */
export interface SlicedAnswer {
  /** Bytes of the results so far. */
  readonly bytes: number;
  /** Adds the answer to a slice; false: the whole is too large, and the other slices are not needed. */
  add(part: ListAnswer): boolean;
  send(): void;
}

/**
 * Keeps only the bytes of the results: their objects would take 2 kB for each reference of a node. node-opcua
 * encodes an answer in one go, so each slice is encoded when it is done.
 *
 * @param hasDiagnostics whether the answer ends with a list of diagnostics, as all but RegisterNodes' does
 */
export function createSlicedAnswer(
  send: (answer: ListAnswer) => void,
  refuse: (status: StatusCode) => void,
  hasDiagnostics = true,
): SlicedAnswer {
  const results: Buffer[] = [];
  let first: ListAnswer | null = null;
  let bytes = 0;
  let count = 0;

  return {
    get bytes() {
      return bytes;
    },
    add(part) {
      first ??= part;
      const encoded = encodedResults(part, hasDiagnostics);
      if (encoded === null || bytes + encoded.results.length > MOST_BYTES) {
        bytes = Number.POSITIVE_INFINITY;
        return false;
      }
      bytes += encoded.results.length;
      count += encoded.count;
      results.push(encoded.results);
      return true;
    },
    send() {
      if (first === null) throw new Error("the answer has no slice");
      if (bytes > MOST_BYTES) {
        refuse(StatusCodes.BadResponseTooLarge);
        return;
      }
      const { responseHeader } = first;
      first.encode = (stream) => {
        responseHeader.encode(stream);
        stream.writeUInt32(count);
        for (const { buffer, byteOffset, length } of results) {
          stream.writeArrayBuffer(buffer as ArrayBuffer, byteOffset, length);
        }
        if (hasDiagnostics) stream.writeUInt32(NO_DIAGNOSTICS);
      };
      send(first);
    },
  };
}

/** Null: they are too large. */
function encodedResults(
  part: ListAnswer,
  hasDiagnostics: boolean,
): { readonly results: Buffer; readonly count: number } | null {
  const stream = BinaryStream.createGrowable(1024, MOST_BYTES);
  try {
    part.responseHeader.encode(stream);
    // The whole answer repeats the header.
    const countAt = 2 * stream.length;
    part.encode(stream);
    const end = stream.length - (hasDiagnostics ? COUNT_BYTES : 0);
    const results = Buffer.from(stream.buffer.subarray(countAt + COUNT_BYTES, end));
    return { results, count: stream.buffer.readUInt32LE(countAt) };
  } catch (error) {
    if (error instanceof Error && error.name === "BinaryStreamMaxSizeExceededError") return null;
    throw error;
  }
}
