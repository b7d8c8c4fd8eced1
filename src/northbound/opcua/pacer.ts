import type { Cancel, Clock } from "../../platform/clock.ts";

/** How long a turn of background work is, plus the step that it began. */
const TURN_MS = 8;
/** Other work that needs longer than this between two turns is busy. */
const BUSY_MS = 4;
/** Other work then has the loop for this long. */
const REST_MS = 16;

/** Does work in the background in turns, and pauses only while other work needs the event loop. */
export interface Pacer {
  /** There is work; harmless while it is being done. */
  wake(): void;
  stop(): void;
}

/** Makes it; `step` does a small part of the work, and returns whether there is more. It must not throw. */
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
