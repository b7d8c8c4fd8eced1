import type { Clock } from "./clock.ts";

/** The largest of the figures of the last minute. */
export interface WorstLately {
  note(value: number): void;
  /** 0 without one. */
  worst(): number;
}

/** So many slots of so long make the minute. */
const SLOT_MS = 5_000;
const SLOTS = 12;

/** Cheap: one number a slot. What is between 55 and 60 s old may count or not. */
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
