import { type FileHandle, open, rename, rm } from "node:fs/promises";
import type { Log } from "./log.ts";

export interface LineFileOptions {
  readonly path: string;
  /** A file of this size is put aside, and a new one begun. */
  readonly maxBytes: number;
  /** Files put aside: `path.1` is the newest of them. */
  readonly keep: number;
}

/** A file of lines that is only ever added to. */
export interface LineFile {
  /** Queues a line. Never throws; what cannot be written is counted and logged. */
  append(line: string): void;
  figures(): { readonly lines: number; readonly linesLost: number };
  /** Resolves when all that was queued is written. */
  close(): Promise<void>;
}

/** Lines beyond these wait for a disk that does not answer: memory has an end. */
const MAX_WAITING = 10_000;

/** Readable by its owner alone: the lines may name users and what they did. */
export function createLineFile(options: LineFileOptions, log: Log): LineFile {
  let waiting: string[] = [];
  let writing: Promise<void> | null = null;
  let handle: FileHandle | null = null;
  let sizeBytes = 0;
  let lines = 0;
  let linesLost = 0;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await write(batch);
        lines += batch.length;
      } catch (error) {
        linesLost += batch.length;
        log.error({ err: error, path: options.path, linesLost }, "lines could not be written");
        await letGo().catch((cause: unknown) => log.error({ err: cause }, "the file could not be closed"));
      }
    }
    writing = null;
  }

  async function write(batch: readonly string[]): Promise<void> {
    const bytes = Buffer.from(`${batch.join("\n")}\n`);
    if (handle === null) {
      handle = await open(options.path, "a", 0o600);
      sizeBytes = (await handle.stat()).size;
    }
    if (sizeBytes > 0 && sizeBytes + bytes.length > options.maxBytes) {
      await letGo();
      await putAside();
      handle = await open(options.path, "a", 0o600);
    }
    await handle.appendFile(bytes);
    sizeBytes += bytes.length;
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
      if (waiting.length >= MAX_WAITING) {
        linesLost += 1;
        return;
      }
      waiting.push(line);
      writing ??= drain();
    },
    figures: () => ({ lines, linesLost }),
    async close() {
      await writing;
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
