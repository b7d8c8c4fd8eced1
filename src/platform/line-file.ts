import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Cancel, Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { makeFolder } from "./make-folder.ts";
import { createStretch } from "./stretch.ts";

export interface LineFileOptions {
  readonly path: string;
  /** A file that would grow beyond this is put aside, and a new one begun. */
  readonly maxBytes: number;
  /** Files put aside: `path.1` is the newest of them. */
  readonly keep: number;
}

/** What became of the lines since the start. */
export interface LineFigures {
  /** On the disk: written and synced. */
  readonly lines: number;
  readonly linesLost: number;
}

/** A file of lines that is only ever added to. */
export interface LineFile {
  /** Queues a line. Never throws and never waits; what cannot be written is counted and logged. */
  append(line: string): void;
  figures(): LineFigures;
  /** Why lines are lost; null while they come through, and have for half a minute where too many had come. */
  problem(): string | null;
  /** Resolves when all that was queued is written. */
  close(): Promise<void>;
}

/** How long a written line may wait for the disk: the journal of the commands syncs beside it, and comes first. */
const SYNC_WITHIN_MS = 1_000;
/** Lines beyond these wait for a disk that does not answer: memory has an end. */
const MAX_WAITING_LINES = 10_000;
const MAX_WAITING_BYTES = 16_000_000;
const TOO_MANY = "lines come faster than the disk takes them";
const NEWLINE = 0x0a;

/**
 * Readable by its owner alone: the lines may name users and what they did. Lines are written at once, those that
 * come meanwhile as one batch, and synced within a second: no end of the process loses a line that was written, a power
 * cut those of its last second. A line that a crash cut off stays as it is, and the next start begins a new one.
 */
export function createLineFile(
  options: LineFileOptions,
  clock: Pick<Clock, "after" | "monotonicMs">,
  log: Log,
): LineFile {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let writing: Promise<void> | null = null;
  let handle: FileHandle | null = null;
  let sizeBytes = 0;
  /** Lines that are written, and not on the disk for certain. */
  let unsynced = 0;
  let cancelSync: Cancel | null = null;
  let isSyncDue = false;
  let lines = 0;
  let linesLost = 0;
  let problem: string | null = null;
  /** No batch was written since a line was lost because too many waited: a disk that hangs takes none. */
  let isStuck = false;
  let linesOverflowed = 0;
  const overflowing = createStretch(clock, () => {
    log.info(
      { path: options.path, linesLost: linesOverflowed },
      "no line was one too many for half a minute",
    );
    linesOverflowed = 0;
  });

  function loseOne(): void {
    linesLost += 1;
    linesOverflowed += 1;
    isStuck = true;
    if (overflowing.note())
      log.error({ path: options.path, waiting: waiting.length }, `${TOO_MANY}: some are lost`);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0 || isSyncDue) {
      const batch = waiting;
      waiting = [];
      waitingBytes = 0;
      try {
        if (batch.length > 0) {
          await write(batch);
          isStuck = false;
        }
        if (isSyncDue) await sync();
      } catch (error) {
        await giveUp(error);
      }
    }
    writing = null;
  }

  function syncLater(): void {
    cancelSync ??= clock.after(SYNC_WITHIN_MS, () => {
      cancelSync = null;
      isSyncDue = true;
      writing ??= drain();
    });
  }

  async function sync(): Promise<void> {
    isSyncDue = false;
    await handle?.datasync();
    lines += unsynced;
    unsynced = 0;
    if (problem !== null) log.info({ path: options.path, linesLost }, "lines can be written again");
    problem = null;
  }

  /** Says it once a reason: a full disk refuses every batch. */
  async function giveUp(error: unknown): Promise<void> {
    linesLost += unsynced;
    unsynced = 0;
    const reason = error instanceof Error ? error.message : String(error);
    if (problem !== reason)
      log.error({ err: error, path: options.path, linesLost }, "lines could not be written");
    problem = reason;
    await letGo().catch((cause: unknown) => log.error({ err: cause }, "the file could not be closed"));
  }

  async function write(batch: readonly string[]): Promise<void> {
    const bytes = Buffer.from(`${batch.join("\n")}\n`);
    unsynced += batch.length;
    let file = handle ?? (await begin());
    if (sizeBytes > 0 && sizeBytes + bytes.length > options.maxBytes) {
      await handle?.datasync();
      await letGo();
      await putAside();
      file = await begin();
    }
    await file.appendFile(bytes);
    sizeBytes += bytes.length;
    syncLater();
  }

  /** Opens the file at the beginning of a line, whatever an earlier end has left. */
  async function begin(): Promise<FileHandle> {
    await makeFolder(dirname(options.path));
    const file = await open(options.path, "a+", 0o600);
    handle = file;
    sizeBytes = (await file.stat()).size;
    if (sizeBytes === 0) return file;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, sizeBytes - 1);
    if (buffer[0] === NEWLINE) return file;
    await file.appendFile("\n");
    sizeBytes += 1;
    return file;
  }

  async function letGo(): Promise<void> {
    const old = handle;
    handle = null;
    sizeBytes = 0;
    await old?.close();
  }

  async function putAside(): Promise<void> {
    await rm(`${options.path}.${options.keep}`, { force: true });
    for (let number = options.keep - 1; number >= 1; number -= 1) {
      await renameIfThere(`${options.path}.${number}`, `${options.path}.${number + 1}`);
    }
    await renameIfThere(options.path, `${options.path}.1`);
  }

  return {
    append(line) {
      if (waiting.length >= MAX_WAITING_LINES || waitingBytes + line.length > MAX_WAITING_BYTES) {
        loseOne();
        return;
      }
      waiting.push(line);
      waitingBytes += line.length;
      writing ??= drain();
    },
    figures: () => ({ lines, linesLost }),
    problem: () => problem ?? (isStuck || overflowing.isOn() ? TOO_MANY : null),
    async close() {
      await writing;
      cancelSync?.();
      cancelSync = null;
      isSyncDue = unsynced > 0;
      await drain();
      await letGo();
    },
  };
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
