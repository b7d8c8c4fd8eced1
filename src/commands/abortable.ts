import type { Outcome } from "../domain/outcome.ts";
import { onAbort } from "../platform/on-abort.ts";

/** The outcome, or a rejection with the reason of the signal if it is aborted first. */
export function abortable(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const removeListener = onAbort(signal, () => reject(signal.reason));
    void outcome.then((value) => {
      removeListener();
      resolve(value);
    });
  });
}
