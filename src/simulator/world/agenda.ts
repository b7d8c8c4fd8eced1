import type { Cancel } from "../../platform/clock.ts";

/**
 * The future events of the world, in order of time. The world is a chain of dated events and not a loop of
 * small steps, so that a run does not depend on how often it is observed.
 */
export interface Agenda {
  /** World time in milliseconds. */
  nowMs(): number;
  /** Runs `task` when world time has moved on by `delayMs`; tasks of the same moment keep their order. */
  after(delayMs: number, task: () => void): Cancel;
  /** Advances time to `toMs` and runs everything that is due on the way. */
  advance(toMs: number): void;
}

interface Entry {
  readonly atMs: number;
  readonly order: number;
  task: (() => void) | undefined;
}

/** Cancelled entries are removed once they are the greater part of more than this many. */
const SWEEP_ABOVE = 1_024;

/** An agenda that starts at `startMs`. */
export function createAgenda(startMs: number): Agenda {
  let heap: Entry[] = [];
  let nowMs = startMs;
  let nextOrder = 0;
  let cancelled = 0;

  const sweep = () => {
    heap = heap.filter((entry) => entry.task !== undefined).sort(compare);
    cancelled = 0;
  };

  return {
    nowMs: () => nowMs,
    after(delayMs, task) {
      const entry: Entry = { atMs: nowMs + Math.max(delayMs, 0), order: nextOrder++, task };
      push(heap, entry);
      return () => {
        if (entry.task === undefined) return;
        entry.task = undefined;
        cancelled += 1;
        if (cancelled > SWEEP_ABOVE && cancelled * 2 > heap.length) sweep();
      };
    },
    advance(toMs) {
      for (let next = heap[0]; next !== undefined && next.atMs <= toMs; next = heap[0]) {
        pop(heap);
        const { task } = next;
        if (task === undefined) {
          cancelled -= 1;
          continue;
        }
        next.task = undefined;
        nowMs = Math.max(nowMs, next.atMs);
        task();
      }
      nowMs = Math.max(nowMs, toMs);
    },
  };
}

function compare(a: Entry, b: Entry): number {
  return a.atMs - b.atMs || a.order - b.order;
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const parentAt = (at - 1) >> 1;
    const parent = heap[parentAt];
    if (parent === undefined || compare(parent, entry) <= 0) break;
    heap[at] = parent;
    at = parentAt;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const childAt = smallerChild(heap, at);
    const child = heap[childAt];
    if (child === undefined || compare(last, child) <= 0) break;
    heap[at] = child;
    at = childAt;
  }
  heap[at] = last;
}

function smallerChild(heap: readonly Entry[], at: number): number {
  const left = 2 * at + 1;
  const leftEntry = heap[left];
  const rightEntry = heap[left + 1];
  if (leftEntry === undefined || rightEntry === undefined) return left;
  return compare(leftEntry, rightEntry) <= 0 ? left : left + 1;
}
