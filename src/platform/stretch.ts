import type { Clock } from "./clock.ts";

/** A time in which something goes wrong again and again, to be told once and not each time. */
export interface Stretch {
  /** It has gone wrong; true when that begins a stretch. */
  note(): boolean;
  /** Whether it has gone wrong within the last half minute. */
  isOn(): boolean;
}

/** What is full is so on and off: one moment with room says nothing. */
const OVER_AFTER_MS = 30_000;

/** @param onOver is called when a stretch is over */
export function createStretch(clock: Pick<Clock, "after" | "monotonicMs">, onOver: () => void): Stretch {
  let isOn = false;
  let notedAtMs = 0;

  function look(): void {
    const leftMs = notedAtMs + OVER_AFTER_MS - clock.monotonicMs();
    if (leftMs > 0) {
      clock.after(leftMs, look);
      return;
    }
    isOn = false;
    onOver();
  }

  return {
    note() {
      notedAtMs = clock.monotonicMs();
      if (isOn) return false;
      isOn = true;
      clock.after(OVER_AFTER_MS, look);
      return true;
    },
    isOn: () => isOn,
  };
}
