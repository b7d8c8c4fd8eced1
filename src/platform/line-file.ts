import { type FileHandle, open } from "node:fs/promises";
import type { Cancel, Clock } from "./clock.ts";
import { messageOf } from "./error-text.ts";
import type { Log } from "./log.ts";
import { createRecurringProblem } from "./log-bounds.ts";
import { createRotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** Counts of lines since the start. */
export interface LineFigures {
  /** Written and synced. */
  readonly lines: number;
  readonly linesLost: number;
}

/** A file of lines that is only appended to. */
export interface LineFile {
  /** Queues a line. Never throws and never waits; a line that cannot be written is counted and logged. */
  append(line: string): void;
  figures(): LineFigures;
  /** Why lines are lost; null: none are. A reason of *too many lines at once* stays for half a minute. */
  problem(): string | null;
  /** Resolves when all queued lines are written. */
  close(): Promise<void>;
}

/** A written line is synced within this time. The command journal syncs on the same disk and comes first. */
const SYNC_WITHIN_MS = 1_000;
/** Bounds on the lines that wait for a disk; lines beyond them are lost. */
const MAX_WAITING_LINES = 10_000;
const MAX_WAITING_BYTES = 16_000_000;
const TOO_MANY = "lines come faster than the disk takes them";

/**
 * Lines are written at once (those that come meanwhile as one batch), and synced within a second. A written
 * line survives the end of the process; a power cut may lose the lines of the last second.
 */
export function createLineFile(
  options: RotatingFileOptions,
  clock: Pick<Clock, "after" | "monotonicMs">,
  log: Log,
): LineFile {
  const { path } = options;
  const file = createRotatingFile(options);
  const queue = createLineQueue(clock, log, path);
  let writing: Promise<void> | null = null;
  /** Lines that are written but not synced. */
  let unsynced = 0;
  let cancelSync: Cancel | null = null;
  let isSyncDue = false;
  let lines = 0;
  let linesNotWritten = 0;
  let problem: string | null = null;

  const linesLost = () => linesNotWritten + queue.lost();

  async function drain(): Promise<void> {
    for (let batch = queue.take(); batch.length > 0 || isSyncDue; batch = queue.take()) {
      try {
        if (batch.length > 0) await write(batch);
        if (isSyncDue) await sync();
      } catch (error) {
        await fail(error);
      }
    }
    writing = null;
  }

  async function write(batch: readonly string[]): Promise<void> {
    unsynced += batch.length;
    await file.write(Buffer.from(`${batch.join("\n")}\n`));
    queue.written();
    cancelSync ??= clock.after(SYNC_WITHIN_MS, () => {
      cancelSync = null;
      isSyncDue = true;
      writing ??= drain();
    });
  }

  async function sync(): Promise<void> {
    isSyncDue = false;
    await file.sync();
    lines += unsynced;
    unsynced = 0;
    if (problem !== null) log.info({ path, linesLost: linesLost() }, "lines can be written again");
    problem = null;
  }

  /** Logs each reason once: a full disk refuses every batch. */
  async function fail(error: unknown): Promise<void> {
    linesNotWritten += unsynced;
    unsynced = 0;
    // A sync of nothing would succeed, and look as if lines could be written again.
    cancelSync?.();
    cancelSync = null;
    isSyncDue = false;
    const reason = messageOf(error);
    if (problem !== reason)
      log.error({ err: error, path, linesLost: linesLost() }, "lines could not be written");
    problem = reason;
    await file.close().catch((cause: unknown) => log.error({ err: cause }, "the file could not be closed"));
  }

  return {
    append(line) {
      if (queue.push(line)) writing ??= drain();
    },
    figures: () => ({ lines, linesLost: linesLost() }),
    problem: () => problem ?? (queue.isOverflowing() ? TOO_MANY : null),
    async close() {
      await writing;
      cancelSync?.();
      cancelSync = null;
      isSyncDue = unsynced > 0;
      await drain();
      await file.close();
    },
  };
}

/** Lines that wait for the disk, bounded. */
function createLineQueue(clock: Pick<Clock, "after" | "monotonicMs">, log: Log, path: string) {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let lostSinceLogged = 0;
  /** No batch was written since a line was lost: a disk that hangs takes none. */
  let isStuck = false;
  const overflow = createRecurringProblem(clock, () => {
    log.info({ path, linesLost: lostSinceLogged }, "no line was one too many for half a minute");
    lostSinceLogged = 0;
  });

  return {
    /** False when the line is lost. */
    push(line: string): boolean {
      if (waiting.length < MAX_WAITING_LINES && waitingBytes + line.length <= MAX_WAITING_BYTES) {
        waiting.push(line);
        waitingBytes += line.length;
        return true;
      }
      lost += 1;
      lostSinceLogged += 1;
      isStuck = true;
      if (overflow.note()) log.error({ path, waiting: waiting.length }, `${TOO_MANY}: some are lost`);
      return false;
    },
    take(): readonly string[] {
      const batch = waiting;
      waiting = [];
      waitingBytes = 0;
      return batch;
    },
    written(): void {
      isStuck = false;
    },
    lost: () => lost,
    isOverflowing: () => isStuck || overflow.isRecurring(),
  };
}

/** Why the reading ended: enough was read, there are no more lines, or the bound on bytes was reached. */
type End = "enough" | "beginning" | "bound";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads a file of lines from its end, and then its rotated files, newest line first, until `take` returns
 * false. Reads at most `mostBytes`. Resolves with whether nothing was left unread that `take` would have
 * wanted. A line that a crash cut off is handed over as it is. Rejects if an existing file cannot be read.
 */
export async function readLinesBack(
  { path, keep }: Pick<RotatingFileOptions, "path" | "keep">,
  mostBytes: number,
  take: (line: string) => boolean,
): Promise<boolean> {
  let leftBytes = mostBytes;
  for (let number = 0; number <= keep; number += 1) {
    const file = await openIfThere(number === 0 ? path : `${path}.${number}`);
    if (file === null) continue;
    try {
      const sizeBytes = (await file.stat()).size;
      const end = await readFileBack(file, sizeBytes, leftBytes, take);
      if (end !== "beginning") return end === "enough";
      leftBytes -= sizeBytes;
    } finally {
      await file.close();
    }
  }
  return true;
}

async function readFileBack(
  file: FileHandle,
  sizeBytes: number,
  mostBytes: number,
  take: (line: string) => boolean,
): Promise<End> {
  const stopAt = Math.max(0, sizeBytes - mostBytes);
  /** The end of a line whose beginning is not read yet. */
  let rest: Buffer = Buffer.alloc(0);
  for (let start = sizeBytes; start > stopAt; ) {
    const length = Math.min(CHUNK_BYTES, start - stopAt);
    start -= length;
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, start);
    const bytes = Buffer.concat([buffer, rest]);
    let end = bytes.length;
    while (end > 0) {
      const newline = bytes.lastIndexOf(NEWLINE, end - 1);
      if (newline === -1) break;
      if (!offer(bytes.subarray(newline + 1, end), take)) return "enough";
      end = newline;
    }
    rest = bytes.subarray(0, end);
  }
  if (stopAt > 0) return "bound";
  return offer(rest, take) ? "beginning" : "enough";
}

function offer(line: Buffer, take: (line: string) => boolean): boolean {
  return line.length === 0 || take(line.toString("utf8"));
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
