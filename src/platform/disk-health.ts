import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Health } from "./component.ts";

/** The longest time that a write of a store has taken in the last minute, or takes at present. */
export interface StoreDelay {
  readonly store: string;
  readonly slowestMs: number;
}

export interface DiskFacts {
  readonly dataDir: string;
  readonly freeBytes: FreeBytes;
  /** With less free space, stores write nothing. */
  readonly leastFreeBytes: number;
  readonly isReadOnly: () => boolean;
  readonly delays: () => readonly StoreDelay[];
}

/** A record that takes longer counts as refused by the disk. */
const SLOW_MS = 1_000;
const MEANS = "what moves or changes is refused, stops pass, values go on";

/** The disk of the data folder, in a sentence: what is wrong, what goes on, and what to do. */
export function diskHealth({ dataDir, freeBytes, leastFreeBytes, isReadOnly, delays }: DiskFacts): Health {
  const free = freeBytes(dataDir);
  const all = delays();
  const slowestMs = Math.round(Math.max(0, ...all.map((each) => each.slowestMs)));
  const figures = { ...(free === null ? {} : { freeBytes: free }), slowestWriteMs: slowestMs };
  const degraded = (detail: string): Health => ({ state: "degraded", detail, figures });
  if (isReadOnly()) {
    const advice = "make it writable again (dmesg may say why it is not), or start the machine again";
    return degraded(`the disk of ${dataDir} is read-only: ${MEANS}; ${advice}`);
  }
  if (free !== null && free < leastFreeBytes)
    return degraded(`the disk of ${dataDir} is full: ${MEANS}; make room`);
  const slow = all.filter((each) => each.slowestMs >= SLOW_MS);
  if (slow.length === 0) return { state: "up", figures };
  const took = slow.map((each) => `${each.store} ${(each.slowestMs / 1_000).toFixed(1)} s`).join(", ");
  const means = `while a write takes more than a second, ${MEANS}`;
  return degraded(
    `the disk of ${dataDir} is slow (slowest write of the last minute: ${took}): ${means}; ` +
      "look for a program that writes much, or for errors of the disk (dmesg)",
  );
}

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
