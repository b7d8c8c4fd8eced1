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
 * @param rebirth stops data at once, and begins the birth
 * @param onMerged one more request waits for a later birth, or with others for one
 */
export function createRebirths(
  clock: Pick<Clock, "monotonicMs" | "after">,
  rebirth: () => void,
  onMerged: () => void,
): Rebirths {
  let lastMs: number | null = null;
  let cancel: Cancel | null = null;

  function begin(): void {
    cancel = null;
    lastMs = clock.monotonicMs();
    rebirth();
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
