import type { Clock } from "../clock.ts";
import { type EntryKind, type EntryParts, entryBytes, writeEntry } from "./entry.ts";

export interface Chunk {
  readonly bytes: Buffer;
  readonly entries: number;
}

/** Entries in memory on their way to the disk, bounded. */
export interface Chunks {
  /** Copies an entry. False when it is dropped. */
  write(kind: EntryKind, parts: EntryParts): boolean;
  /** The oldest entries that wait; null when none do. */
  take(): Chunk | null;
  /** A chunk that was taken could not be written. */
  lost(chunk: Chunk): void;
  /** An entry is dropped before it gets here. */
  drop(): void;
  /** Drops all that wait. */
  clear(): void;
  figures(): Readonly<Record<string, number>>;
}

const CHUNK_BYTES = 128 * 1024;
/** A map may have megabytes. */
const LARGEST_ENTRY_BYTES = 1024 * 1024;
/** For a disk that answers slowly, and while a recording is saved. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export function createChunks(clock: Pick<Clock, "nowMs">): Chunks {
  let waiting: Chunk[] = [];
  let waitingBytes = 0;
  let current: Buffer | null = null;
  let used = 0;
  let entriesInCurrent = 0;
  const counts = { entries: 0, entriesDropped: 0 };

  function finish(): void {
    if (current === null || used === 0) return;
    waiting.push({ bytes: current.subarray(0, used), entries: entriesInCurrent });
    waitingBytes += used;
    current = null;
    used = 0;
    entriesInCurrent = 0;
  }

  return {
    write(kind, parts) {
      const size = entryBytes(parts);
      if (size > LARGEST_ENTRY_BYTES || waitingBytes + used + size > MAX_WAITING_BYTES) {
        counts.entriesDropped += 1;
        return false;
      }
      if (current !== null && used + size > current.length) finish();
      current ??= Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size));
      used = writeEntry(current, used, kind, clock.nowMs(), parts);
      entriesInCurrent += 1;
      counts.entries += 1;
      return true;
    },
    take() {
      if (waiting.length === 0) finish();
      const chunk = waiting.shift();
      if (chunk === undefined) return null;
      waitingBytes -= chunk.bytes.length;
      return chunk;
    },
    lost(chunk) {
      counts.entriesDropped += chunk.entries;
    },
    drop() {
      counts.entriesDropped += 1;
    },
    clear() {
      finish();
      for (const { entries } of waiting) counts.entriesDropped += entries;
      waiting = [];
      waitingBytes = 0;
    },
    figures: () => ({ ...counts, waitingBytes }),
  };
}
