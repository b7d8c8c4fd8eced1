import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { createKeptFile } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";

/**
 * When token requests were made, over restarts too: a service manager that starts a daemon
 * again and again must not make it exceed the documented rate. Monotonic milliseconds.
 */
export interface ExchangeHistory {
  /** What earlier processes asked for, as far as it is known. Never rejects. */
  load(): Promise<readonly number[]>;
  /**
   * To be awaited before the request leaves. Without a disk requests are made all the same. Never rejects.
   */
  keep(atMs: readonly number[], log: Log): Promise<void>;
}

const FILE = "token-requests.json";
/** More than any rate that matters. */
const MOST = 100;
/** Requests that come to nothing, because there is no connection, must not wear out a flash disk. */
const SPARING_MS = 60_000;

/**
 * Keeps wall times in a file of `directory`: the monotonic clock begins again with each start of the machine.
 */
export function createExchangeHistory(directory: string, clock: Clock): ExchangeHistory {
  const file = createKeptFile(join(directory, FILE), { isSynced: false });
  let isFailing = false;
  let written = { count: 0, atMs: Number.NEGATIVE_INFINITY };
  return {
    async load() {
      try {
        const kept: unknown = JSON.parse((await file.read()) ?? "[]");
        if (!Array.isArray(kept)) return [];
        const wallMs = kept.filter((each) => typeof each === "number").slice(-MOST);
        // A time to come means that the clock was set back: it may as well have been just now.
        return wallMs
          .map((atMs) => clock.monotonicMs() - Math.max(0, clock.nowMs() - atMs))
          .sort((a, b) => a - b);
      } catch {
        // There is none, or it is damaged: nothing is known.
        return [];
      }
    },
    async keep(atMs, log) {
      const nowMs = clock.monotonicMs();
      if (atMs.length <= written.count && nowMs - written.atMs < SPARING_MS) return;
      written = { count: atMs.length, atMs: nowMs };
      const wallMs = atMs
        .slice(-MOST)
        .map((each) => Math.round(clock.nowMs() - (clock.monotonicMs() - each)));
      try {
        await file.write(JSON.stringify(wallMs));
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, "token requests are not remembered over a restart");
        isFailing = true;
      }
    },
  };
}
