import type { FleetNotice } from "../domain/change.ts";

/**
 * Notices in order, numbered, until somebody has acknowledged them. Beyond the limit the
 * oldest are dropped, and counted.
 */
export interface NoticeQueue {
  push(notice: FleetNotice): void;
  /** The first `most` notices, which stay in the queue. */
  peek(most: number): readonly FleetNotice[];
  /** The number that the notice after the first `count` ones has. */
  numberAfter(count: number): number;
  /** Removes every notice with a lower number: those that were dropped meanwhile are gone already. */
  releaseBefore(number: number): void;
  readonly length: number;
  readonly dropped: number;
}

export function createNoticeQueue(limit: number): NoticeQueue {
  // `start` walks instead of shifting: an array that is long moves as a whole at every shift.
  let held: FleetNotice[] = [];
  let start = 0;
  let firstNumber = 0;
  let dropped = 0;

  function remove(count: number): void {
    start += count;
    firstNumber += count;
    if (start >= held.length) {
      held = [];
      start = 0;
    } else if (start > limit) {
      held = held.slice(start);
      start = 0;
    }
  }

  return {
    push(notice) {
      held.push(notice);
      if (held.length - start <= limit) return;
      remove(1);
      dropped += 1;
    },
    peek: (most) => held.slice(start, start + most),
    numberAfter: (count) => firstNumber + count,
    releaseBefore(number) {
      if (number > firstNumber) remove(Math.min(number - firstNumber, held.length - start));
    },
    get length() {
      return held.length - start;
    },
    get dropped() {
      return dropped;
    },
  };
}
