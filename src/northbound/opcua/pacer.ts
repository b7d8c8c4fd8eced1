import type { Cancel, Clock } from "../../platform/clock.ts";

/** Work in the background has so long a turn, and the step that it began. */
const TURN_MS = 8;
/** Others that need longer than this between two turns are busy. */
const BUSY_MS = 4;
/** So long they then have the loop to themselves. */
const REST_MS = 16;

/** Does work in the background, a turn at a time, and rests only while others need the event loop. */
export interface Pacer {
  /** There is work; harmless while it is being done. */
  wake(): void;
  stop(): void;
}

/** Makes it; `step` does a small part of the work, and tells whether there is more. It must not throw. */
export function createPacer(clock: Clock, step: () => boolean): Pacer {
  let cancel: Cancel | null = null;

  function afterOthers(): void {
    const fromMs = clock.monotonicMs();
    const immediate = setImmediate(() => turn(clock.monotonicMs() - fromMs));
    cancel = () => clearImmediate(immediate);
  }

  function turn(othersTookMs: number): void {
    if (othersTookMs > BUSY_MS) {
      cancel = clock.after(REST_MS, () => turn(0));
      return;
    }
    const untilMs = clock.monotonicMs() + TURN_MS;
    let hasMore = step();
    while (hasMore && clock.monotonicMs() < untilMs) hasMore = step();
    if (hasMore) afterOthers();
    else cancel = null;
  }

  return {
    wake() {
      if (cancel === null) afterOthers();
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}
