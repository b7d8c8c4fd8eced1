import type { Clock } from "./clock.ts";
import { onAbort } from "./on-abort.ts";

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
