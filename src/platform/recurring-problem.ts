import type { Clock } from "./clock.ts";

/** A problem that comes again and again, and is reported once instead of each time. */
export interface RecurringProblem {
  /** It has occurred. True: for the first time after half a minute without it. */
  note(): boolean;
  /** Whether it has occurred within the last half minute. */
  isRecurring(): boolean;
}

/** A full queue is full on and off: one moment with room does not end the problem. */
const OVER_AFTER_MS = 30_000;

/** @param onOver is called when the problem has not occurred for half a minute */
export function createRecurringProblem(
  clock: Pick<Clock, "after" | "monotonicMs">,
  onOver: () => void,
): RecurringProblem {
  let isRecurring = false;
  let notedAtMs = 0;

  function check(): void {
    const leftMs = notedAtMs + OVER_AFTER_MS - clock.monotonicMs();
    if (leftMs > 0) {
      clock.after(leftMs, check);
      return;
    }
    isRecurring = false;
    onOver();
  }

  return {
    note() {
      notedAtMs = clock.monotonicMs();
      if (isRecurring) return false;
      isRecurring = true;
      clock.after(OVER_AFTER_MS, check);
      return true;
    },
    isRecurring: () => isRecurring,
  };
}
