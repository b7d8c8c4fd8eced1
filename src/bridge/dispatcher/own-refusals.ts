import { type Outcome, refusal } from "../../domain/outcome.ts";

/** What the gateway refuses because of itself: nothing was sent. */
export function shuttingDown(): Outcome {
  return refusal("SHUTTING_DOWN", "the gateway is shutting down; it was not sent");
}

/** The same, by a mistake of ours. */
export function fault(): Outcome {
  return refusal("INTERNAL_FAULT", "a fault in the gateway; it was not sent");
}
