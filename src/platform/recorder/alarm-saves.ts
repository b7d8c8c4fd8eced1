import type { Cancel, Clock } from "../clock.ts";

/** When recordings of alarms are saved. */
export interface AlarmSaves {
  /** An alarm was raised: `save` is called soon, with the first cause of all that come until then. */
  raised(cause: string): void;
  close(): void;
}

/** What follows an alarm is worth having. */
const AFTER_MS = 15_000;
const BETWEEN_MS = 600_000;

export function createAlarmSaves(
  clock: Pick<Clock, "after" | "monotonicMs">,
  save: (cause: string) => void,
): AlarmSaves {
  let cancel: Cancel | null = null;
  let savedAtMs = Number.NEGATIVE_INFINITY;
  return {
    raised(cause) {
      if (cancel !== null) return;
      const gapMs = savedAtMs + BETWEEN_MS - clock.monotonicMs();
      cancel = clock.after(Math.max(AFTER_MS, gapMs), () => {
        cancel = null;
        savedAtMs = clock.monotonicMs();
        save(cause);
      });
    },
    close: () => cancel?.(),
  };
}
