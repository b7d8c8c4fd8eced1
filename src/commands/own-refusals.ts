import type { Effect } from "../domain/command.ts";
import { ending, type Outcome, refusal } from "../domain/outcome.ts";

/** A refusal for a reason of the gateway's own: nothing was sent. */
export function shuttingDown(): Outcome {
  return refusal("SHUTTING_DOWN", "the gateway is shutting down; it was not sent");
}

/** This version may have to give way to the one before, so it sends nothing that moves or changes. */
export function onTrial(): Outcome {
  return refusal("SHUTTING_DOWN", "the gateway is being upgraded; it was not sent");
}

/**
 * This member does not lead, so it sends nothing that moves or changes. The leader may have the same command
 * in hand without a record: under a new id it could be done twice.
 */
export function standingBy(): Outcome {
  const message =
    "this member of the cluster stands by, and has not sent it: ask the one that leads with the same id";
  return refusal("STANDBY", message, false);
}

/** Another member leads before it was sent: it was accepted, and will not be sent by that one. */
export function handedOver(): Outcome {
  return ending("expired", "EXPIRED", "the gateway handed over to its other box before it was sent", true);
}

/** An act comes after the gateway has begun to stop. */
export function actsEnded(): Outcome {
  return refusal("SHUTTING_DOWN", "the gateway is shutting down; nothing is changed");
}

/** An act that the member that leads would not know of. */
export function actsElsewhere(): Outcome {
  return refusal("STANDBY", "this member of the cluster stands by; nothing is changed");
}

/** The member that leads has the command in hand. */
export function inOtherHands(): Outcome {
  const message = "another member of the cluster has it in hand, or may have: ask the one that leads";
  return ending("unknown", "STANDBY", message, false);
}

/** The store of the cluster does not answer: another member may have sent the same id. */
export function perhapsElsewhere(): Outcome {
  const message =
    "etcd does not answer, so this member of the cluster cannot tell whether another one has it: this one has not sent it; ask again with the same id";
  return ending("unknown", "STANDBY", message, false);
}

/** The journal is closed: the id may be that of an earlier command, which may have been sent. */
export function unreadable(): Outcome {
  const message = "the gateway is shutting down, and its record cannot be read now: ask again when it is up";
  return ending("unknown", "SHUTTING_DOWN", message, false);
}

/** A defect of the gateway kept it from being sent. */
export function fault(): Outcome {
  return refusal("INTERNAL_FAULT", "a fault in the gateway; it was not sent");
}

/** The outcome of a command that the gateway lost by a defect of its own. */
export function failed(): Outcome {
  const message = "the gateway failed; whether the command was sent is not known";
  return ending("unknown", "INTERNAL_FAULT", message, false);
}

/** A command whose record is damaged: neither its request nor its outcome can be read. */
export function damaged(): Outcome {
  const message = "its record in the journal is damaged; whether it was sent is not known: look first";
  return { ...ending("unknown", "OUTCOME_UNKNOWN", message, false), duplicate: true };
}

/** After a crash the same command may have another outcome, or count as new. */
const NOT_YET = "this outcome is not on the disk yet: a crash before it is makes the gateway forget it";

/**
 * The outcome for the sender if the disk has not taken it. If the outcome says so itself, nothing is added:
 * the journal has failed, or its records are lost.
 */
export function withoutRecord(outcome: Outcome, effect: Effect, areRecordsLost: boolean): Outcome {
  if (outcome.code === "JOURNAL_FAILED" || (areRecordsLost && effect !== "stops")) return outcome;
  return { ...outcome, message: outcome.message === "" ? NOT_YET : `${outcome.message}; ${NOT_YET}` };
}

/** A command whose outcome is neither on the disk nor in memory: it must not be sent again. */
export function unrecorded(): Outcome {
  const message = "its outcome could not be recorded, as the disk failed; the robot may have acted";
  return ending("unknown", "OUTCOME_UNKNOWN", message, false);
}
