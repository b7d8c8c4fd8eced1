import { readFileSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import type { Health } from "./component.ts";
import { isCode } from "./error-text.ts";

/** Null: no file descriptor is left. */
type Look<T> = () => T | null;

/** How to read this process's state from the machine; a test replaces it. */
export interface ProcessLooks {
  readonly rssBytes: Look<number>;
  /** How many files and connections it may have open; 0: the system does not say. */
  readonly openFilesLimit: Look<number>;
}

/** Reading the memory takes a file descriptor. */
export function rssBytes(): number | null {
  return unlessOutOfFiles(() => process.memoryUsage.rss());
}

const LIMIT = /^Max open files\s+(\d+)/m;

const machine: ProcessLooks = {
  rssBytes,
  openFilesLimit: () =>
    unlessOutOfFiles(() => {
      try {
        return Number(LIMIT.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 0);
      } catch (error) {
        if (isCode(error, "ENOENT")) return 0;
        throw error;
      }
    }),
};

function unlessOutOfFiles<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (isCode(error, "EMFILE") || isCode(error, "ENFILE")) return null;
    throw error;
  }
}

/** Memory, age and open files of this process. Never throws for want of a file descriptor. */
export function createProcessHealth(looks: ProcessLooks = machine): () => Health {
  let lastRss = 0;
  let limit = 0;
  return () => {
    const rss = looks.rssBytes();
    const nowLimit = rss === null ? null : looks.openFilesLimit();
    lastRss = rss ?? lastRss;
    limit = nowLimit ?? limit;
    const figures = {
      rssBytes: lastRss,
      heapBytes: getHeapStatistics().used_heap_size,
      uptimeSeconds: Math.round(process.uptime()),
      ...(limit === 0 ? {} : { openFilesLimit: limit }),
    };
    if (nowLimit !== null) return { state: "up", figures };
    const means = "no new connection is accepted or made, those that are open go on";
    return {
      state: "degraded",
      detail: `no file descriptor is left of ${limit}: ${means}; close connections, or raise LimitNOFILE`,
      figures,
    };
  };
}
