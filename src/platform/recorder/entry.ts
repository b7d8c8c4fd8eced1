import { deflateRaw, inflateRawSync } from "node:zlib";

/**
 * What an entry of a recording is. The numbers stand in files: one is never used again for something else.
 */
export const entryKinds = {
  /**
   * A message of a stream: `name` is the method, `second` the bytes as they came. `first` is the location or
   * the one robot that the stream was asked for; empty where it was asked for several robots.
   */
  message: 1,
  /** The service took a stream: `name` is the method, `first` the request. */
  opened: 2,
  /** No call serves a stream any more: `name` is the method, `second` says why. */
  lost: 3,
  /** A request left: `name` is the operation, `first` its protobuf bytes; empty where it is withheld. */
  call: 4,
  /**
   * Its answer, with the same id: `code` is the gRPC code; `second` the answer as JSON, or the error's text.
   */
  answer: 5,
  /** A poll was answered: `name` is the operation, `first` its request, `second` the answer; both JSON. */
  read: 6,
  /** The service delivered to the webhook: `name` is empty, `first` the event's id, `second` the body. */
  delivery: 7,
  /**
   * A northbound was given something: `name` is the northbound, `second` lines of text. Without a text it is
   * the same as the entry before with the same id, of another northbound.
   */
  told: 8,
  /** Entries: `second` is what they are written as, compressed. */
  packed: 9,
} as const;

export type EntryKind = keyof typeof entryKinds;

export interface Entry {
  readonly kind: EntryKind;
  /** Wall time. */
  readonly atMs: number;
  /**
   * Joins a call and its answer, and what several northbounds were told, within one run of the gateway; 0
   * elsewhere.
   */
  readonly id: number;
  readonly code: number;
  readonly name: string;
  readonly first: Buffer;
  readonly second: Buffer;
}

/** What goes into an entry, besides its kind and time. */
export interface EntryParts {
  readonly name: string;
  readonly first?: Uint8Array;
  readonly second?: Uint8Array;
  readonly id?: number;
  readonly code?: number;
}

/** Length of what follows, kind, time, id, code, length of the name, length of `first`. */
const LENGTH_BYTES = 4;
const FIXED_BYTES = 1 + 8 + 4 + 1 + 1 + 4;
/** Names are ours: methods, operations and northbounds, in ASCII. */
const LONGEST_NAME = 255;
const nothing = new Uint8Array(0);
const kindsByNumber = new Map<number, EntryKind>(
  Object.entries(entryKinds).map(([kind, number]) => [number, kind as EntryKind]),
);

/** The bytes that `writeEntry` takes. */
export function entryBytes({ name, first = nothing, second = nothing }: EntryParts): number {
  return LENGTH_BYTES + FIXED_BYTES + Math.min(name.length, LONGEST_NAME) + first.length + second.length;
}

/** Writes an entry into `buffer`, which has room for it. @returns where it ends */
export function writeEntry(
  buffer: Buffer,
  start: number,
  kind: EntryKind,
  atMs: number,
  { name, first = nothing, second = nothing, id = 0, code = 0 }: EntryParts,
): number {
  const nameBytes = Math.min(name.length, LONGEST_NAME);
  let at = buffer.writeUInt32LE(FIXED_BYTES + nameBytes + first.length + second.length, start);
  at = buffer.writeUInt8(entryKinds[kind], at);
  at = buffer.writeDoubleLE(atMs, at);
  at = buffer.writeUInt32LE(id, at);
  at = buffer.writeUInt8(code, at);
  at = buffer.writeUInt8(nameBytes, at);
  at = buffer.writeUInt32LE(first.length, at);
  // Quicker than a call of `write` for so few characters.
  for (let character = 0; character < nameBytes; character += 1) buffer[at++] = name.charCodeAt(character);
  if (first.length > 0) buffer.set(first, at);
  at += first.length;
  if (second.length > 0) buffer.set(second, at);
  return at + second.length;
}

/** Where the last whole entry ends: a crash may leave a part of one. */
export function wholeEntriesEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at + LENGTH_BYTES <= bytes.length) {
    const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length || end < at + LENGTH_BYTES + FIXED_BYTES) return at;
    at = end;
  }
  return at;
}

/** The whole entries of `bytes`, from `start` on. A kind of a later version is left out. */
export function* entriesIn(bytes: Buffer, start: number): Generator<Entry> {
  const last = wholeEntriesEnd(bytes, start);
  for (let at = start; at < last; ) {
    const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
    const entry = readEntry(bytes, at + LENGTH_BYTES, end);
    if (entry?.kind === "packed") yield* entriesIn(unpacked(entry.second), 0);
    else if (entry !== null) yield entry;
    at = end;
  }
}

/** Of stream messages it takes a seventh; a higher level takes twice the time for a tenth less. */
const LEVEL = 1;

/**
 * Entries as one entry, compressed outside of the event loop: a disk of flash wears out by what is written.
 */
export async function packEntries(entries: Buffer, atMs: number): Promise<Buffer> {
  const second = await new Promise<Buffer>((resolve, reject) => {
    deflateRaw(entries, { level: LEVEL }, (error, packed) =>
      error === null ? resolve(packed) : reject(error),
    );
  });
  const parts = { name: "", second };
  const bytes = Buffer.allocUnsafe(entryBytes(parts));
  writeEntry(bytes, 0, "packed", atMs, parts);
  return bytes;
}

/** A disk may have changed what it kept. */
function unpacked(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed);
  } catch {
    return Buffer.alloc(0);
  }
}

function readEntry(bytes: Buffer, at: number, end: number): Entry | null {
  const kind = kindsByNumber.get(bytes.readUInt8(at));
  const nameAt = at + FIXED_BYTES;
  const firstAt = nameAt + bytes.readUInt8(at + 14);
  const secondAt = firstAt + bytes.readUInt32LE(at + 15);
  if (kind === undefined || secondAt > end) return null;
  return {
    kind,
    atMs: bytes.readDoubleLE(at + 1),
    id: bytes.readUInt32LE(at + 9),
    code: bytes.readUInt8(at + 13),
    name: bytes.toString("latin1", nameAt, firstAt),
    first: bytes.subarray(firstAt, secondAt),
    second: bytes.subarray(secondAt, end),
  };
}
