import type { Clock } from "../../platform/clock.ts";

/** A connection that left a plain call unanswered. */
export interface Unresponsive {
  readonly sinceMs: number;
  /** Whether other streams of it had messages meanwhile: then it may only have no room for another stream. */
  readonly haveOthersAnswered: boolean;
}

/** Tracks whether one connection is alive. Monotonic milliseconds. */
export interface Liveness {
  /** Something came from the server. */
  receive(): void;
  /** Whether anything ever came. */
  hasAnswered(): boolean;
  provenAtMs(): number;
  /** How long pings have had no answer since the last proof; 0: none was sent. */
  askedInVainMs(): number;
  /** Sends a ping; resolves with whether it was answered. Callers at the same time share one ping. */
  prove(): Promise<boolean>;
  /**
   * The server left a plain call unanswered.
   *
   * @returns null: that is known already
   */
  unanswered(): Unresponsive | null;
  isResponsive(): boolean;
}

export interface LivenessParts {
  readonly clock: Clock;
  readonly ask: () => Promise<boolean>;
  /** A plain call is answered again. */
  readonly onAnswered: (before: Unresponsive) => void;
}

/** An open connection counts as proven alive. */
export function createLiveness({ clock, ask, onAnswered }: LivenessParts): Liveness {
  let hasAnswered = false;
  let provenAtMs = clock.monotonicMs();
  let askedAtMs = provenAtMs;
  let firstAskedAtMs: number | null = null;
  let asking: Promise<boolean> | null = null;
  let unresponsive: Unresponsive | null = null;

  function receive(): void {
    hasAnswered = true;
    firstAskedAtMs = null;
    provenAtMs = clock.monotonicMs();
  }

  function settle(isAnswered: boolean): boolean {
    asking = null;
    if (!isAnswered) return false;
    receive();
    const before = unresponsive;
    unresponsive = null;
    if (before !== null) onAnswered(before);
    return true;
  }

  return {
    receive,
    hasAnswered: () => hasAnswered,
    provenAtMs: () => provenAtMs,
    askedInVainMs: () => (firstAskedAtMs === null ? 0 : clock.monotonicMs() - firstAskedAtMs),
    prove() {
      if (asking === null) askedAtMs = clock.monotonicMs();
      firstAskedAtMs ??= askedAtMs;
      asking ??= ask().then(settle);
      return asking;
    },
    unanswered() {
      if (unresponsive !== null) return null;
      unresponsive = { sinceMs: clock.monotonicMs(), haveOthersAnswered: provenAtMs > askedAtMs };
      return unresponsive;
    },
    isResponsive: () => unresponsive === null,
  };
}
