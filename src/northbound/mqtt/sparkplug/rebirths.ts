import type { Cancel, Clock } from "../../../platform/clock.ts";

/** The births that hosts ask for. */
export interface Rebirths {
  /** A host has asked, or must be told again: now, or when the last rebirth is long enough ago. */
  request(): void;
  /** The connection has ended. */
  end(): void;
}

/** Hosts that ask more often get one birth for all of it. */
const PACE_MS = 10_000;

/**
 * @param rebirth stops data at once, begins the birth, and resolves when all births have left
 * @param onMerged one more request waits for a later birth, or with others for one
 */
export function createRebirths(
  clock: Pick<Clock, "monotonicMs" | "after">,
  rebirth: () => Promise<void>,
  onMerged: () => void,
): Rebirths {
  let lastMs: number | null = null;
  let cancel: Cancel | null = null;
  let isUnderWay = false;

  /** Over a slow connection births take longer: begun again each time, they would never end. */
  function begin(): void {
    cancel = isUnderWay ? clock.after(PACE_MS, begin) : null;
    if (isUnderWay) return;
    isUnderWay = true;
    lastMs = clock.monotonicMs();
    void rebirth().finally(() => {
      isUnderWay = false;
    });
  }

  return {
    request() {
      if (cancel !== null) return onMerged();
      const waitMs = lastMs === null ? 0 : lastMs + PACE_MS - clock.monotonicMs();
      if (waitMs <= 0) return begin();
      onMerged();
      cancel = clock.after(waitMs, begin);
    },
    end() {
      cancel?.();
      cancel = null;
    },
  };
}
