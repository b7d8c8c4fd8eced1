import type { Clock } from "../clock.ts";
import type { TapEntry } from "./recording.ts";
import { type EntryKind, type EntryParts, entryBytes, writeEntry } from "./recording.ts";

export interface Chunk {
  readonly bytes: Buffer;
  readonly entries: number;
  /** The memory that holds the bytes. */
  readonly memory: Buffer;
}

/** Entries in memory on their way to the disk, bounded. */
export interface Chunks {
  /**
   * Adds an entry. Its parts are read when it is copied: after some dozens of entries, at the latest by
   * `take`.
   */
  write(kind: EntryKind, parts: TapEntry): void;
  /** Removes the oldest waiting entries; null: none wait. */
  take(): Chunk | null;
  /** A taken chunk is on the disk: its memory is used again. */
  written(chunk: Chunk): void;
  /** A taken chunk could not be written. */
  lost(chunk: Chunk): void;
  /** Counts an entry that was dropped before it got here. */
  drop(): void;
  /** Drops all waiting entries. */
  clear(): void;
  figures(): Readonly<Record<string, number>>;
}

interface Noted {
  readonly kind: EntryKind;
  readonly atMs: number;
  readonly parts: TapEntry;
}

/**
 * Lines. Copied one by one, between the work of which they tell, entries cost several times as much. More of
 * them would be a long turn of the event loop.
 */
const COPIED_TOGETHER = 64;
/** A larger entry is copied at once, so that it does not keep its source's memory. */
const LARGEST_NOTED_BYTES = 16 * 1024;
const CHUNK_BYTES = 128 * 1024;
/**
 * Fresh memory makes V8 collect the whole heap every minute, because V8 counts memory outside of the heap.
 */
const MOST_SPARE = 16;
/** A map may have megabytes. */
const LARGEST_ENTRY_BYTES = 1024 * 1024;
/** For a disk that is slow, and while a recording is saved. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export function createChunks(clock: Pick<Clock, "nowMs">): Chunks {
  const noted: Noted[] = [];
  let notedLines = 0;
  let waiting: Chunk[] = [];
  const spare: Buffer[] = [];
  let waitingBytes = 0;
  let current: Buffer | null = null;
  let used = 0;
  let entriesInCurrent = 0;
  const counts = { bytes: 0, entries: 0, entriesDropped: 0 };

  function finish(): void {
    if (current === null || used === 0) return;
    waiting.push({ bytes: current.subarray(0, used), entries: entriesInCurrent, memory: current });
    waitingBytes += used;
    current = null;
    used = 0;
    entriesInCurrent = 0;
  }

  function memoryFor(size: number): Buffer {
    const used = size <= CHUNK_BYTES ? spare.pop() : undefined;
    return used ?? Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size));
  }

  function copy(kind: EntryKind, atMs: number, parts: EntryParts): void {
    const size = entryBytes(parts);
    if (size > LARGEST_ENTRY_BYTES || waitingBytes + used + size > MAX_WAITING_BYTES) {
      counts.entriesDropped += 1;
      return;
    }
    if (current !== null && used + size > current.length) finish();
    current ??= memoryFor(size);
    used = writeEntry(current, used, kind, atMs, parts);
    entriesInCurrent += 1;
    counts.entries += 1;
  }

  function copyNoted(): void {
    for (const { kind, atMs, parts } of noted) copy(kind, atMs, withText(parts, atMs));
    noted.length = 0;
    notedLines = 0;
  }

  return {
    write(kind, parts) {
      noted.push({ kind, atMs: clock.nowMs(), parts });
      notedLines += parts.lines ?? 1;
      if (notedLines >= COPIED_TOGETHER || isLarge(parts)) copyNoted();
    },
    take() {
      copyNoted();
      if (waiting.length === 0) finish();
      const chunk = waiting.shift();
      if (chunk === undefined) return null;
      waitingBytes -= chunk.bytes.length;
      return chunk;
    },
    written({ bytes, memory }) {
      counts.bytes += bytes.length;
      if (memory.length === CHUNK_BYTES && spare.length < MOST_SPARE) spare.push(memory);
    },
    lost(chunk) {
      counts.entriesDropped += chunk.entries;
    },
    drop() {
      counts.entriesDropped += 1;
    },
    clear() {
      copyNoted();
      finish();
      for (const { entries } of waiting) counts.entriesDropped += entries;
      waiting = [];
      waitingBytes = 0;
    },
    figures() {
      copyNoted();
      return { ...counts, waitingBytes };
    },
  };
}

function isLarge({ first, second }: TapEntry): boolean {
  return (first?.length ?? 0) + (second?.length ?? 0) > LARGEST_NOTED_BYTES;
}

function withText(parts: TapEntry, atMs: number): EntryParts {
  const { name, id = 0, text } = parts;
  return text === undefined ? parts : { name, id, second: Buffer.from(text(atMs)) };
}
