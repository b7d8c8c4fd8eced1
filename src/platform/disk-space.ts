import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** The bytes that this process may still write at `path`; null when the file system does not say. */
export type FreeBytes = (path: string) => Promise<number | null>;

interface Blocks {
  readonly bavail: number;
  readonly bsize: number;
  readonly blocks: number;
}

/** Does not hold up the process while a disk hangs. Never rejects. */
export async function freeBytes(path: string): Promise<number | null> {
  try {
    return bytesOf(await statfs(path));
  } catch {
    return null;
  }
}

/** For the start, when nothing waits yet: of the nearest folder that exists. Never throws. */
export function freeBytesNow(path: string): number | null {
  try {
    return bytesOf(statfsSync(path));
  } catch {
    return dirname(path) === path ? null : freeBytesNow(dirname(path));
  }
}

/** A file system without a size of its own has no blocks to count. */
function bytesOf({ bavail, bsize, blocks }: Blocks): number | null {
  return blocks === 0 ? null : bavail * bsize;
}
