import { type Clock, every } from "./clock.ts";
import type { Health } from "./component.ts";
import type { Log } from "./log.ts";

/** Bounds log lines that unauthorized clients can cause at will, so that they cannot fill a disk. */
interface LineBudget {
  /** Whether there is room for one more line. Counts a line without room. */
  take(): boolean;
}

interface LineBounds {
  readonly most: number;
  readonly windowMs: number;
}

/** @param onLeftOut is called at the end of a window, with the number of lines that were left out */
export function createLineBudget(
  clock: Pick<Clock, "after">,
  { most, windowMs }: LineBounds,
  onLeftOut: (count: number) => void,
): LineBudget {
  let isOpen = false;
  let taken = 0;
  let leftOut = 0;

  function end(): void {
    const count = leftOut;
    [isOpen, taken, leftOut] = [false, 0, 0];
    if (count > 0) onLeftOut(count);
  }

  return {
    take() {
      if (!isOpen) clock.after(windowMs, end);
      isOpen = true;
      if (taken < most) {
        taken += 1;
        return true;
      }
      leftOut += 1;
      return false;
    },
  };
}

/** A problem that comes again and again, and is reported once instead of each time. */
interface RecurringProblem {
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

interface OutageLogParts {
  readonly health: () => Readonly<Record<string, Health>>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Outage {
  /** Wall time, for a reader of the log. */
  readonly since: string;
  readonly beganAtMs: number;
  loggedAtMs: number;
}

const LOOK_MS = 10_000;
const AGAIN_MS = 15 * 60_000;

/**
 * Logs every quarter of an hour that a component is still down, since when, and the last cause. The
 * components themselves log only the begin and the end of an outage. Runs until the signal is aborted.
 */
export function logOutages({ health, clock, log }: OutageLogParts, signal: AbortSignal): void {
  const outages = new Map<string, Outage>();

  function look(): void {
    const nowMs = clock.monotonicMs();
    for (const [part, { state, detail }] of Object.entries(health())) {
      if (state !== "down") {
        outages.delete(part);
        continue;
      }
      const outage = outages.get(part);
      if (outage === undefined) {
        const since = new Date(clock.nowMs()).toISOString();
        outages.set(part, { since, beganAtMs: nowMs, loggedAtMs: nowMs });
      } else if (nowMs - outage.loggedAtMs >= AGAIN_MS) {
        outage.loggedAtMs = nowMs;
        const minutes = Math.round((nowMs - outage.beganAtMs) / 60_000);
        log.warn({ part, since: outage.since, minutes, cause: detail }, "the part is still down");
      }
    }
  }

  every(clock, LOOK_MS, signal, look);
}
