import { onAbort } from "./on-abort.ts";

/** Cancels what a clock was asked to do later. Harmless when it is already done. */
export type Cancel = () => void;

/**
 * Time as an injected dependency. All code that waits or needs the time takes a clock, so that a test can let
 * ten minutes pass in a moment.
 */
export interface Clock {
  /** Wall time in milliseconds since 1970, UTC. May jump. */
  nowMs(): number;
  /** Milliseconds since some moment in the past. Never jumps back. */
  monotonicMs(): number;
  /** Runs `task` once, `delayMs` from now. Does not keep the process alive. */
  after(delayMs: number, task: () => void): Cancel;
}

const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Waits `delayMs`. Resolves `true` when the time has passed and `false` when the
 * signal was aborted first; it never rejects.
 */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const cancel = clock.after(delayMs, () => {
      stopListening();
      resolve(true);
    });
    const stopListening = onAbort(signal, () => {
      cancel();
      resolve(false);
    });
  });
}

/** A timer that is later than this was held up, with the whole process. */
const HELD_UP_MS = 50;
/** The sockets are read within this time after the process was held up. */
const READING_MS = 100;

/**
 * Runs `task` every `periodMs` until the signal is aborted. Tasks with the same period run at the same
 * moments, because on an idle machine a wake-up costs more than most tasks. So the first run is half a period
 * to one and a half periods from now. After the process was held up, the sockets are read before the task
 * runs (docs/internals/decisions.md, Silence is judged after the sockets were read).
 */
export function every(clock: Clock, periodMs: number, signal: AbortSignal, task: () => void): void {
  if (signal.aborted) return;
  let cancel: Cancel = () => {};
  let cancelHeldUp: Cancel = () => {};
  let dueAtMs = 0;
  const arm = () => {
    const nowMs = clock.monotonicMs();
    const sinceMs = nowMs % periodMs;
    const waitMs = (sinceMs > periodMs / 2 ? 2 : 1) * periodMs - sinceMs;
    dueAtMs = nowMs + waitMs;
    cancel = clock.after(waitMs, turn);
  };
  const turn = () => {
    const lateMs = clock.monotonicMs() - dueAtMs;
    arm();
    // At most half a period, so that it is over before the next run.
    if (lateMs > HELD_UP_MS) cancelHeldUp = clock.after(Math.min(READING_MS, periodMs / 2), task);
    else task();
  };
  arm();
  onAbort(signal, () => {
    cancel();
    cancelHeldUp();
  });
}

const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/**
 * An ISO 8601 time with a zone (RFC 3339) in milliseconds since 1970; null for anything else, such as a date
 * that does not exist.
 */
export function dateTimeMs(value: unknown): number | null {
  const parts = typeof value === "string" ? dateTime.exec(value) : null;
  if (parts === null || !isDate(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return null;
  const atMs = Date.parse(parts[0]);
  return Number.isNaN(atMs) ? null : atMs;
}

/** JavaScript reads 31 February as 3 March. */
function isDate(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/**
 * Runs `work` with a signal that is aborted with `signal`, or after `timeoutMs` with a TimeoutError, and
 * releases both when the work is over. AbortSignal.any would leave an entry in `signal` each time (Node 20
 * never removes them), which adds up in a signal that lives as long as the daemon.
 */
export async function within<T>(
  signal: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const bounded = new AbortController();
  const abort = () => bounded.abort(signal.reason);
  const late = () =>
    bounded.abort(new DOMException(`not done within ${Math.round(timeoutMs)} ms`, "TimeoutError"));
  const timer = setTimeout(late, timeoutMs);
  timer.unref();
  const stopListening = onAbort(signal, abort);
  try {
    return await work(bounded.signal);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/** The result of `promise`, or `otherwise` if there is none in time. Rejects only in time. */
export function noLaterThan<T, O>(
  clock: Pick<Clock, "after">,
  timeMs: number,
  promise: Promise<T>,
  otherwise: O,
): Promise<T | O> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(timeMs, () => resolve(otherwise));
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
