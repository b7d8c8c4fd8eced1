import type { Outcome } from "../../domain/outcome.ts";

/** Who gives up with each signal: one listener for all, for a signal looks through its listeners at each that is added. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** The outcome, unless the one who waits for it gives up first: then a rejection with the signal's reason. */
export function abortable(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const others = waitersOf(signal);
    const giveUp = () => reject(signal.reason);
    others.add(giveUp);
    void outcome.then((value) => {
      others.delete(giveUp);
      resolve(value);
    });
  });
}

function waitersOf(signal: AbortSignal): Set<() => void> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const waiters = new Set<() => void>();
  waiting.set(signal, waiters);
  signal.addEventListener("abort", () => waiters.forEach((giveUp) => void giveUp()), { once: true });
  return waiters;
}
