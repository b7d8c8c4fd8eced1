import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { createKeptFile } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";

/**
 * The times of token requests, over restarts too: a service manager that starts a daemon again and again must
 * not make it exceed the documented rate. Monotonic milliseconds.
 */
export interface ExchangeHistory {
  /** The requests of earlier processes, as far as they are known. Never rejects. */
  load(): Promise<readonly number[]>;
  /** Await it before the request leaves. Without a disk, requests are made all the same. Never rejects. */
  keep(atMs: readonly number[], log: Log): Promise<void>;
}

const FILE = "token-requests.json";
/** More than any rate that matters. */
const MOST = 100;
/** Requests without a connection must not wear out a flash disk. */
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
        // A future time means that the clock was set back: the request may have been made just now.
        return wallMs
          .map((atMs) => clock.monotonicMs() - Math.max(0, clock.nowMs() - atMs))
          .sort((a, b) => a - b);
      } catch {
        // There is no file, or it is damaged: nothing is known.
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
