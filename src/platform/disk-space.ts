import { statfsSync } from "node:fs";
import { dirname } from "node:path";

/** The bytes that this process may still write at `path`; null when the file system does not say. */
export type FreeBytes = (path: string) => number | null;

/**
 * Of `path`, or of the nearest folder above it that exists. Never throws. Local file systems know the figure
 * without asking the disk: some microseconds, also while it hangs, where a thread's answer costs two changes
 * of thread.
 */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    // A file system without a size of its own has no blocks to count.
    return blocks === 0 ? null : bavail * bsize;
  } catch {
    return dirname(path) === path ? null : freeBytes(dirname(path));
  }
}
