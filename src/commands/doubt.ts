import type { Effect } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";

/** What is told of a command: to its sender, in the audit log and as an event. */
export type Told = (effect: Effect, outcome: Outcome) => Outcome;

/**
 * While records are lost, this run knows only that it has not sent a command: an earlier run may have. "Not
 * done" would let its sender do it twice.
 */
export function createTold(areRecordsLost: boolean): Told {
  return (effect, outcome) => {
    const mayActTwice = effect === "moves" || effect === "changes";
    const isNotDone = outcome.outcome === "refused" || outcome.outcome === "expired";
    return areRecordsLost && mayActTwice && isNotDone ? withDoubt(outcome) : outcome;
  };
}

function withDoubt(outcome: Outcome): Outcome {
  const message = `${outcome.message}; whether it was sent before is not known, for the records are lost: look first`;
  return { ...outcome, outcome: "unknown", message, retrySafe: false };
}
