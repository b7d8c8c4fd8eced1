import { setMaxListeners } from "node:events";
import type { Outcome } from "../../domain/outcome.ts";

/** The outcome, unless the one who waits for it gives up first: then a rejection with the signal's reason. */
export function abortable(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return Promise.reject(signal.reason);
  // A door waits for all its commands with one signal: their number is no leak.
  setMaxListeners(0, signal);
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    void outcome.then((value) => {
      signal.removeEventListener("abort", onAbort);
      resolve(value);
    });
  });
}
