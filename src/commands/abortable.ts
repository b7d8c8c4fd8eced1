import type { Outcome } from "../domain/outcome.ts";
import { onAbort } from "../platform/on-abort.ts";

/** The outcome, unless the one who waits for it gives up first: then a rejection with the signal's reason. */
export function abortable(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const letGo = onAbort(signal, () => reject(signal.reason));
    void outcome.then((value) => {
      letGo();
      resolve(value);
    });
  });
}
