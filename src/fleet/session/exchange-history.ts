import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { createKeptFile } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";
import type { ExchangeEnding, Token } from "./exchange.ts";

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

/** The results of token requests. */
export interface ExchangeRecord {
  note(ending: ExchangeEnding): void;
  /** The next request has to wait until then, because of the documented rate; null: it need not wait. */
  waitsUntil(atMs: number | null): void;
  /** There is no token, and none may be requested now. */
  rateIsUsedUp(): void;
  /** Why there is no new token, and when that may change if it is known. */
  problem(): string;
  /** Why the token in use cannot be renewed; null: no reason is known. */
  renewalProblem(inUse: Token): string | null;
  readonly isRefused: boolean;
  readonly failuresInARow: number;
  /** Requests that reached the server, and all failed ones. */
  readonly exchanges: number;
  readonly failures: number;
}

const TOO_MANY = "it waits, for no more token requests are allowed now (20 in 5 minutes)";
/** From this many failures in a row on they are reported, while the token in use is still valid. */
const NOTABLE_FAILURES = 2;
/** The last moment that has a date: a server may send any number. */
const LAST_DATE_MS = 8.64e15;

export function createExchangeRecord(log: Log): ExchangeRecord {
  let last: ExchangeEnding["kind"] | "none" = "none";
  let problem: string | null = "no token yet";
  let againAtMs: number | null = null;
  let exchanges = 0;
  let failures = 0;
  let failuresInARow = 0;

  function problemNow(): string {
    const why = problem ?? "the token has expired";
    return againAtMs === null ? why : `${why}; asked again at ${utc(againAtMs)}`;
  }

  return {
    note(ending) {
      const isFirst = exchanges === failures;
      last = ending.kind;
      if (ending.kind !== "unreached") exchanges += 1;
      if (ending.kind === "token") {
        if (failuresInARow > 0 || isFirst) log.info({}, "a token has been obtained");
        failuresInARow = 0;
        problem = null;
        return;
      }
      failures += 1;
      failuresInARow += 1;
      if (problem !== ending.message) log.warn({ problem: ending.message }, "no new token");
      problem = ending.message;
    },
    waitsUntil(atMs) {
      againAtMs = atMs;
    },
    rateIsUsedUp() {
      problem = TOO_MANY;
    },
    problem: problemNow,
    renewalProblem({ expMs }) {
      if (failuresInARow === 0 || (failuresInARow < NOTABLE_FAILURES && last !== "refused")) return null;
      return `${problemNow()}; the one in use ends at ${utc(expMs)}`;
    },
    get isRefused() {
      return last === "refused";
    },
    get failuresInARow() {
      return failuresInARow;
    },
    get exchanges() {
      return exchanges;
    },
    get failures() {
      return failures;
    },
  };
}

function utc(atMs: number): string {
  return new Date(Math.min(atMs, LAST_DATE_MS)).toISOString().replace(/\.\d+/, "");
}
