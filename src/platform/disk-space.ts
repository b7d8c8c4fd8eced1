import { statfsSync } from "node:fs";
import { dirname } from "node:path";

/** The bytes that this process may still write at `path`; null when the file system does not say. */
export type FreeBytes = (path: string) => number | null;

/**
 * Free bytes of `path`, or of the nearest existing folder above it. Never throws. Local file systems answer
 * from memory within microseconds, also while the disk hangs. To ask on another thread would cost two changes
 * of thread.
 */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    // A file system without a size of its own has no blocks.
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return dirname(path) === path ? null : freeBytes(dirname(path));
  }
}
