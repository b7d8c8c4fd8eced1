import { type FileHandle, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { makeFolder } from "../folder.ts";
import { putInPlace } from "../kept-file.ts";
import type { RunningTime } from "../running-time.ts";
import type { RecorderOptions } from "./recording.ts";
import { ENDING, headerBytes, NoRecording, packEntries, readHeader, wholeEntriesEnd } from "./recording.ts";

/** A saved recording. */
export interface SavedRecording {
  readonly path: string;
  readonly bytes: number;
  /** Wall time of the beginning of its first segment. */
  readonly fromMs: number;
}

/**
 * The last minutes on the disk, as numbered files that are only appended to; the oldest is removed. One call
 * at a time. Each method rejects with the disk's error.
 */
export interface Segments {
  /** Appends whole entries; begins a segment if the last one is full or old. Does not sync. */
  append(entries: Buffer): Promise<void>;
  /** Joins the segments into the file `path`. Null: there are none. */
  save(path: string, cause: string): Promise<SavedRecording | null>;
  /** How many segments were begun. */
  begun(): number;
  /** Of all segments together. */
  bytes(): number;
  close(): Promise<void>;
}

interface Segment {
  readonly path: string;
  bytes: number;
  /** In running time. */
  readonly startedAtMs: number;
  /** By the wall clock, like its entries. */
  readonly startedAt: string;
}

/** One segment is what is lost at the old end. */
const SEGMENTS = 16;
const NAME = /^segment-(\d+)\.fgrec$/;
const OWNER_ONLY = 0o600;

export function createSegments(
  { folder, maxBytes, keepMs }: Pick<RecorderOptions, "folder" | "maxBytes" | "keepMs">,
  parts: {
    /** The version of the gateway. */
    readonly version: string;
    readonly clock: Pick<Clock, "nowMs">;
    readonly time: RunningTime;
  },
): Segments {
  const { version: gateway, clock, time } = parts;
  const segmentBytes = Math.floor(maxBytes / SEGMENTS);
  const segmentMs = keepMs / SEGMENTS;
  let segments: Segment[] | null = null;
  let handle: FileHandle | null = null;
  let number = 0;
  let begun = 0;

  /** The segments of an earlier run belong to the last minutes too. */
  async function found(): Promise<Segment[]> {
    await makeFolder(folder);
    const numbers = (await readdir(folder)).flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number);
    const left: Segment[] = [];
    for (const each of numbers.sort((a, b) => a - b)) {
      number = Math.max(number, each);
      const path = join(folder, `segment-${each}${ENDING}`);
      const start = await startOf(path, time);
      if (start === null) await rm(path, { force: true });
      else left.push({ path, bytes: (await stat(path)).size, ...start });
    }
    return left;
  }

  async function begin(list: Segment[]): Promise<FileHandle> {
    await handle?.close();
    handle = null;
    number += 1;
    const path = join(folder, `segment-${number}${ENDING}`);
    const file = await open(path, "w", OWNER_ONLY);
    handle = file;
    const startedAtMs = time.totalMs();
    const startedAt = new Date(clock.nowMs()).toISOString();
    const header = headerBytes({ gateway, startedAt, runningMs: startedAtMs });
    list.push({ path, bytes: header.length, startedAtMs, startedAt });
    begun += 1;
    await file.write(header);
    return file;
  }

  /** Makes room for so many bytes, and removes segments that are too old. */
  async function evict(list: Segment[], bytes: number): Promise<void> {
    const oldestMs = time.totalMs() - keepMs;
    let total = bytes + sizeOf(list);
    for (let first = list[0]; first !== undefined; first = list[0]) {
      if (total <= maxBytes && first.startedAtMs >= oldestMs) return;
      if (list.length === 1) {
        await handle?.close();
        handle = null;
      }
      await rm(first.path, { force: true });
      total -= first.bytes;
      list.shift();
    }
  }

  return {
    async append(entries) {
      segments ??= await found();
      const list = segments;
      const chunk = await packEntries(entries, clock.nowMs());
      await evict(list, chunk.length);
      const last = list.at(-1);
      const isDue =
        last === undefined ||
        last.bytes + chunk.length > segmentBytes ||
        time.totalMs() - last.startedAtMs >= segmentMs;
      const file = handle === null || isDue ? await begin(list) : handle;
      const current = list.at(-1);
      const { bytesWritten } = await file.write(chunk);
      if (current !== undefined) current.bytes += bytesWritten;
      if (bytesWritten < chunk.length) throw new Error(`only ${bytesWritten} bytes of a chunk were written`);
    },
    async save(path, cause) {
      segments ??= await found();
      const list = segments;
      await evict(list, 0);
      const [first] = list;
      if (first === undefined) return null;
      const { startedAt } = first;
      const header = headerBytes({
        gateway,
        startedAt,
        cause,
        savedAt: new Date(clock.nowMs()).toISOString(),
      });
      const bytes = await joinTo(list, path, header);
      return { path, bytes, fromMs: Date.parse(startedAt) };
    },
    begun: () => begun,
    bytes: () => sizeOf(segments ?? []),
    async close() {
      const file = handle;
      handle = null;
      await file?.close();
    },
  };
}

/**
 * Writes the entries of the segments after a header.
 *
 * @returns the number of bytes
 */
async function joinTo(segments: readonly Segment[], path: string, header: Buffer): Promise<number> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  try {
    const file = await open(draft, "wx", OWNER_ONLY);
    let bytes = 0;
    try {
      bytes += (await file.write(header)).bytesWritten;
      for (const segment of segments) {
        const whole = await readFile(segment.path);
        const { end } = readHeader(whole);
        const entries = whole.subarray(end, wholeEntriesEnd(whole, end));
        bytes += (await file.write(entries)).bytesWritten;
      }
    } finally {
      await file.close();
    }
    await putInPlace(draft, path);
    return bytes;
  } catch (error) {
    // A full disk must not be filled with halves of files.
    await rm(draft, { force: true });
    throw error;
  }
}

/** Null: it is no segment of ours. One without its running time counts as begun now. */
async function startOf(
  path: string,
  time: RunningTime,
): Promise<Pick<Segment, "startedAtMs" | "startedAt"> | null> {
  try {
    const { runningMs, startedAt } = readHeader(await readFile(path)).header;
    // A crash may have lost the running time at which it began.
    return { startedAtMs: Math.min(runningMs ?? Number.POSITIVE_INFINITY, time.totalMs()), startedAt };
  } catch (error) {
    if (error instanceof NoRecording) return null;
    throw error;
  }
}

function sizeOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0);
}
