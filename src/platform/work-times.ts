import type { Clock } from "./clock.ts";

/** The task that has taken the event loop for longest. */
export interface LongestWork {
  readonly part: string;
  readonly ms: number;
}

/** How long the parts of the process take the event loop, so that a part that blocks it can be named. */
export interface WorkTimes {
  /** Runs the task, and notes how long it took until it returned. */
  time<T>(part: string, task: () => T): T;
  /** The same clock; its timers count as work of the part. */
  clock(part: string): Clock;
  /** The longest single task since the last call; null: there was none. */
  takeLongest(): LongestWork | null;
}

/** A task around another one is named only if it took this many times as long: the inner one says more. */
const OUTER = 1.1;

/** It reads the clock twice for each task: 0.1 µs. */
export function createWorkTimes(clock: Clock): WorkTimes {
  let longestPart: string | null = null;
  let longestMs = 0;

  function time<T>(part: string, task: () => T): T {
    const beganAtMs = clock.monotonicMs();
    try {
      return task();
    } finally {
      const ms = clock.monotonicMs() - beganAtMs;
      if (ms > longestMs * OUTER) {
        longestMs = ms;
        longestPart = part;
      }
    }
  }

  return {
    time,
    clock: (part) => ({
      nowMs: clock.nowMs,
      monotonicMs: clock.monotonicMs,
      after: (delayMs, task) => clock.after(delayMs, () => time(part, task)),
    }),
    takeLongest() {
      const longest = longestPart === null ? null : { part: longestPart, ms: longestMs };
      longestPart = null;
      longestMs = 0;
      return longest;
    },
  };
}

/** The largest figure of the last minute. */
export interface WorstLately {
  note(value: number): void;
  /** The largest figure; 0 without one. */
  worst(): number;
}

/** The minute consists of this many slots of this length. */
const SLOT_MS = 5_000;
const SLOTS = 12;

/** Cheap: one number for each slot. A figure of 55 to 60 s ago may count or not. */
export function createWorstLately(clock: Pick<Clock, "monotonicMs">): WorstLately {
  const worst = new Array<number>(SLOTS).fill(0);
  let slot = slotNow();

  function slotNow(): number {
    return Math.floor(clock.monotonicMs() / SLOT_MS);
  }

  function forgetOld(): void {
    const now = slotNow();
    for (let each = Math.max(slot, now - SLOTS) + 1; each <= now; each += 1) worst[each % SLOTS] = 0;
    slot = now;
  }

  return {
    note(value) {
      forgetOld();
      worst[slot % SLOTS] = Math.max(worst[slot % SLOTS] ?? 0, value);
    },
    worst() {
      forgetOld();
      return Math.max(...worst);
    },
  };
}
