import { readFile } from "node:fs/promises";
import { deflateRaw, inflateRawSync } from "node:zlib";
import { messageOf } from "../error-text.ts";
import { isJsonObject, parsedJson } from "../json.ts";

/** The first line of a recording, as JSON. Entries follow it. */
interface RecordingHeader {
  readonly format: "fleetgate-recording";
  /** Of the format. */
  readonly version: typeof VERSION;
  /** The version of the gateway that recorded. */
  readonly gateway: string;
  readonly startedAt: string;
  /** The running time at that moment; absent in a saved recording. */
  readonly runningMs?: number;
  /** Why it was saved; absent in a segment. */
  readonly cause?: string;
  readonly savedAt?: string;
}

export interface Recording {
  readonly header: RecordingHeader;
  readonly entries: readonly Entry[];
}

/** A file is no recording, or a recording of another version. */
export class NoRecording extends Error {
  override readonly name = "NoRecording";
}

const FORMAT = "fleetgate-recording";
const VERSION = 2;
/** The ending of the files. */
export const ENDING = ".fgrec";
const NEWLINE = 0x0a;
const LONGEST_HEADER = 4_096;

export function headerBytes(header: Omit<RecordingHeader, "format" | "version">): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, version: VERSION, ...header })}\n`);
}

/**
 * The header, and the offset of the entries.
 *
 * @throws NoRecording
 */
export function readHeader(bytes: Buffer): { readonly header: RecordingHeader; readonly end: number } {
  const end = bytes.subarray(0, LONGEST_HEADER).indexOf(NEWLINE);
  const header = end < 0 ? null : parsedJson(bytes.toString("utf8", 0, end));
  if (!isJsonObject(header) || header.format !== FORMAT) throw new NoRecording("it is no recording");
  if (header.version !== VERSION)
    throw new NoRecording(
      `it has version ${String(header.version)} of the format; this program reads version ${VERSION}`,
    );
  return { header: header as unknown as RecordingHeader, end: end + 1 };
}

/** Reads a whole recording. Rejects with NoRecording, which names the file. */
export async function readRecording(path: string): Promise<Recording> {
  try {
    const bytes = await readFile(path);
    const { header, end } = readHeader(bytes);
    return { header, entries: [...entriesIn(bytes, end)] };
  } catch (error) {
    throw new NoRecording(`${path}: ${problemOf(error)}`, { cause: error });
  }
}

function problemOf(error: unknown): string {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing ? "there is no such file" : messageOf(error);
}

/** The kinds of entries. The numbers stand in files: a number is never used again for another kind. */
export const entryKinds = {
  /**
   * A message of a stream: `name` is the method, `second` the bytes as they came. `first` is the location or
   * the one robot of the subscription; empty for several robots.
   */
  message: 1,
  /** The service accepted a stream: `name` is the method, `first` the request. */
  opened: 2,
  /** No call serves a stream any more: `name` is the method, `second` the reason. */
  lost: 3,
  /** A request left: `name` is the operation, `first` its protobuf bytes; empty if it is withheld. */
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
   * A northbound got something: `name` is the northbound, `second` lines of text. An entry without a text
   * says the same as the entry before with the same id, of another northbound.
   */
  told: 8,
  /** Entries, compressed into `second`. */
  packed: 9,
} as const;

export type EntryKind = keyof typeof entryKinds;

export interface Entry {
  readonly kind: EntryKind;
  /** Wall time. */
  readonly atMs: number;
  /**
   * Joins a call and its answer, or the entries of several northbounds, within one run of the gateway;
   * otherwise 0.
   */
  readonly id: number;
  readonly code: number;
  readonly name: string;
  readonly first: Buffer;
  readonly second: Buffer;
}

/** The content of an entry, besides its kind and time. */
export interface EntryParts {
  readonly name: string;
  readonly first?: Uint8Array;
  readonly second?: Uint8Array;
  readonly id?: number;
  readonly code?: number;
}

/** The length of the rest, kind, time, id, code, length of the name, length of `first`. */
const LENGTH_BYTES = 4;
const FIXED_BYTES = 1 + 8 + 4 + 1 + 1 + 4;
/** Names are our own: methods, operations and northbounds, in ASCII. */
const LONGEST_NAME = 255;
const nothing = new Uint8Array(0);
const kindsByNumber = new Map<number, EntryKind>(
  Object.entries(entryKinds).map(([kind, number]) => [number, kind as EntryKind]),
);

/** How many bytes `writeEntry` needs. */
export function entryBytes({ name, first = nothing, second = nothing }: EntryParts): number {
  return LENGTH_BYTES + FIXED_BYTES + Math.min(name.length, LONGEST_NAME) + first.length + second.length;
}

/**
 * Writes an entry into `buffer`, which has room for it.
 *
 * @returns the offset of its end
 */
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
  // Faster than a call of `write` for so few characters.
  for (let character = 0; character < nameBytes; character += 1) buffer[at++] = name.charCodeAt(character);
  if (first.length > 0) buffer.set(first, at);
  at += first.length;
  if (second.length > 0) buffer.set(second, at);
  return at + second.length;
}

/** The end of the last whole entry: a crash may leave a part of one. */
export function wholeEntriesEnd(bytes: Buffer, start: number): number {
  let at = start;
  while (at + LENGTH_BYTES <= bytes.length) {
    const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length || end < at + LENGTH_BYTES + FIXED_BYTES) return at;
    at = end;
  }
  return at;
}

/** The whole entries of `bytes`, from `start` on. Leaves out kinds of a later version. */
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

/** It compresses stream messages to a seventh; a higher level takes twice the time for a tenth less. */
const LEVEL = 1;

/**
 * Compresses entries into one entry, outside of the event loop: a flash disk wears out by the amount that is
 * written.
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

/** An entry to record. It is read within the following second: none of it may change. */
export interface TapEntry extends EntryParts {
  /** Makes `second` when the entry is copied; `atMs` is the entry's time. */
  readonly text?: (atMs: number) => string;
  /** How many lines that is; absent: about one. */
  readonly lines?: number;
}

/** Takes what the modules have received and published. Synchronous; never throws. */
export interface RecorderTap {
  /** False: nothing is recorded now, so nothing need be prepared. */
  readonly isOn: boolean;
  write(kind: EntryKind, parts: TapEntry): void;
  /**
   * The number of the present segment: an entry that each segment needs is recorded again when it changes.
   */
  readonly segment: number;
}

/** Records nothing. */
export const noTap: RecorderTap = { isOn: false, segment: 0, write() {} };

/** What is kept, and where. */
export interface RecorderOptions {
  /** The folder of the segments; saved recordings go to `saved` in it. */
  readonly folder: string;
  /** Of all segments together, and so of a saved recording. */
  readonly maxBytes: number;
  readonly keepMs: number;
  /** How many saved recordings are kept, of alarms and of users each. */
  readonly saved: number;
}
