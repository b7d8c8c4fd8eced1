import { type FileHandle, open } from "node:fs/promises";
import type { RotatingFileOptions } from "./rotating-file.ts";

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
