import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "./folder.ts";

export interface RotatingFileOptions {
  readonly path: string;
  /** A write that would exceed this begins a new file; the full one is renamed to `path.1`. */
  readonly maxBytes: number;
  /** How many full files are kept: `path.1` is the newest. */
  readonly keep: number;
}

/**
 * A file that is only appended to, readable by its owner alone. Each method rejects with the disk's error.
 */
export interface RotatingFile {
  /** Appends whole lines. Opens the file if it is closed. */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when all that was written is on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const NEWLINE = 0x0a;

export function createRotatingFile({ path, maxBytes, keep }: RotatingFileOptions): RotatingFile {
  let handle: FileHandle | null = null;
  let sizeBytes = 0;

  /** Opens the file at the beginning of a line: a crash may have left half a line. */
  async function begin(): Promise<FileHandle> {
    await makeFolder(dirname(path));
    const file = await open(path, "a+", 0o600);
    handle = file;
    sizeBytes = (await file.stat()).size;
    if (sizeBytes === 0) return file;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, sizeBytes - 1);
    if (buffer[0] === NEWLINE) return file;
    await file.appendFile("\n");
    sizeBytes += 1;
    return file;
  }

  async function rotate(): Promise<void> {
    await rm(`${path}.${keep}`, { force: true });
    for (let number = keep - 1; number >= 1; number -= 1) {
      await renameIfPresent(`${path}.${number}`, `${path}.${number + 1}`);
    }
    await renameIfPresent(path, `${path}.1`);
  }

  async function close(): Promise<void> {
    const open = handle;
    handle = null;
    sizeBytes = 0;
    await open?.close();
  }

  return {
    async write(bytes) {
      let file = handle ?? (await begin());
      if (sizeBytes > 0 && sizeBytes + bytes.length > maxBytes) {
        await file.datasync();
        await close();
        await rotate();
        file = await begin();
      }
      await file.appendFile(bytes);
      sizeBytes += bytes.length;
    },
    async sync() {
      await handle?.datasync();
    },
    close,
  };
}

async function renameIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
