import type { Cancel, Clock } from "../clock.ts";

/** Decides when a recording of an alarm is saved. */
export interface AlarmSaves {
  /** An alarm was raised: `save` is called soon, with the first cause of all alarms until then. */
  raised(cause: string): void;
  close(): void;
}

/** The time after an alarm is worth recording too. */
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
