import type { Clock } from "./clock.ts";

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
