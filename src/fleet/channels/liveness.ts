import type { Clock } from "../../platform/clock.ts";

/** A connection that left a plain call unanswered. */
export interface Unresponsive {
  readonly sinceMs: number;
  /** Whether its other streams were heard meanwhile: then it may only have no room for another stream. */
  readonly isOthersHeard: boolean;
}

/** Whether one connection is alive, as far as it has shown. Monotonic milliseconds. */
export interface Liveness {
  /** Something came from the server. */
  hear(): void;
  /** Whether anything ever came. */
  isHeard(): boolean;
  provenAtMs(): number;
  /**
   * Asks the server for a sign of life; resolves whether one came. Callers at the same time share one
   * question.
   */
  prove(): Promise<boolean>;
  /** The server left a plain call unanswered. @returns null when that is known already */
  unanswered(): Unresponsive | null;
  isResponsive(): boolean;
}

export interface LivenessParts {
  readonly clock: Clock;
  readonly ask: () => Promise<boolean>;
  /** A plain call is answered again. */
  readonly onAnswered: (before: Unresponsive) => void;
}

/** A connection counts as heard when it is opened. */
export function createLiveness({ clock, ask, onAnswered }: LivenessParts): Liveness {
  let isHeard = false;
  let provenAtMs = clock.monotonicMs();
  let askedAtMs = provenAtMs;
  let asking: Promise<boolean> | null = null;
  let unresponsive: Unresponsive | null = null;

  function hear(): void {
    isHeard = true;
    provenAtMs = clock.monotonicMs();
  }

  function settle(isAnswered: boolean): boolean {
    asking = null;
    if (!isAnswered) return false;
    hear();
    const before = unresponsive;
    unresponsive = null;
    if (before !== null) onAnswered(before);
    return true;
  }

  return {
    hear,
    isHeard: () => isHeard,
    provenAtMs: () => provenAtMs,
    prove() {
      if (asking === null) askedAtMs = clock.monotonicMs();
      asking ??= ask().then(settle);
      return asking;
    },
    unanswered() {
      if (unresponsive !== null) return null;
      unresponsive = { sinceMs: clock.monotonicMs(), isOthersHeard: provenAtMs > askedAtMs };
      return unresponsive;
    },
    isResponsive: () => unresponsive === null,
  };
}
