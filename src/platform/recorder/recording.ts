import { readFile } from "node:fs/promises";
import { messageOf } from "../error-text.ts";
import { isJsonObject } from "../json.ts";
import { type Entry, entriesIn } from "./entry.ts";

/** The first line of a recording, as JSON. Entries follow it. */
export interface RecordingHeader {
  readonly format: "fleetgate-recording";
  /** Of the format. In version 1, no entries were packed. */
  readonly version: 1 | 2;
  /** The version of the gateway that recorded. */
  readonly gateway: string;
  readonly startedAt: string;
  /** The running time at that moment. Earlier versions did not write it. */
  readonly runningMs?: number;
  /** Why it was saved; absent in a segment. */
  readonly cause?: string;
  readonly savedAt?: string;
}

export interface Recording {
  readonly header: RecordingHeader;
  readonly entries: readonly Entry[];
}

/** A file is no recording, or a recording of a later version. */
export class NoRecording extends Error {
  override readonly name = "NoRecording";
}

const FORMAT = "fleetgate-recording";
const VERSION = 2;
const READABLE: readonly unknown[] = [1, VERSION];
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
  const header = end < 0 ? null : parse(bytes.toString("utf8", 0, end));
  if (!isJsonObject(header) || header.format !== FORMAT) throw new NoRecording("it is no recording");
  if (!READABLE.includes(header.version)) {
    const version = String(header.version);
    throw new NoRecording(
      `it has version ${version} of the format; this program reads up to version ${VERSION}`,
    );
  }
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
