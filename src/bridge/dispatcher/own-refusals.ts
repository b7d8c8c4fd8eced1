import { ending, type Outcome, refusal } from "../../domain/outcome.ts";

/** What the gateway refuses because of itself: nothing was sent. */
export function shuttingDown(): Outcome {
  return refusal("SHUTTING_DOWN", "the gateway is shutting down; it was not sent");
}

/** The same, by a mistake of ours. */
export function fault(): Outcome {
  return refusal("INTERNAL_FAULT", "a fault in the gateway; it was not sent");
}

/** A command that was taken, and whose end no disk and no memory has: nothing of it may be sent once more. */
export function unrecorded(): Outcome {
  const message = "its outcome could not be recorded, as the disk failed; the robot may have acted";
  return ending("unknown", "OUTCOME_UNKNOWN", message, false);
}
