import type { Clock } from "./clock.ts";

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
