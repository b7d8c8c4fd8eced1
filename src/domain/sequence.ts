/** The newest accepted message of a robot's stream. */
export interface SequenceMark {
  /** Null: the message carried none. */
  readonly sequence: number | null;
  /** The robot's clock, in milliseconds since 1970. */
  readonly sourceTimeMs: number | null;
}

/**
 * What a message is, compared with the newest accepted one. `fresh`, `reset` and `set_back` (the robot's
 * clock was set back) are news. `repeat` proves that the held value is still the newest. `outdated` is older
 * than the held value. `regressed` means that a reset was missed.
 */
export type SequenceVerdict = "fresh" | "reset" | "set_back" | "repeat" | "outdated" | "regressed";

/** Whether a message with this verdict replaces the held value. */
export function isNews(verdict: SequenceVerdict): boolean {
  return verdict === "fresh" || verdict === "reset" || verdict === "set_back";
}

/**
 * One late snapshot may come from a part of the service that lags. If this many subscriptions in a row begin
 * with an older message, the robot's clock was set back.
 */
const OUTDATED_UNTIL_BELIEVED = 3;

/**
 * Evaluates a message's number (docs/internals/decisions.md, The sequence rules run in the southbound). A
 * repeated number with another timestamp on a new subscription is no repeat: the robot was reset meanwhile,
 * and has counted up to the same number again. A lower number of the same millisecond is older: no robot is
 * reset and sends again within one.
 *
 * @param outdatedBefore how many subscriptions in a row, up to this one, began with a message older than the
 * held value; the third is believed (docs/internals/decisions.md, An older snapshot is believed the third
 * time)
 */
export function evaluateSequence(
  held: SequenceMark | null,
  incoming: SequenceMark,
  firstOfSubscription: boolean,
  outdatedBefore = 0,
): SequenceVerdict {
  const verdict = evaluateOnce(held, incoming, firstOfSubscription);
  return verdict === "outdated" && outdatedBefore + 1 >= OUTDATED_UNTIL_BELIEVED ? "set_back" : verdict;
}

function evaluateOnce(
  held: SequenceMark | null,
  incoming: SequenceMark,
  firstOfSubscription: boolean,
): SequenceVerdict {
  if (held === null || held.sequence === null || incoming.sequence === null) return "fresh";
  if (incoming.sequence === held.sequence) return evaluateEqual(held, incoming, firstOfSubscription);
  if (firstOfSubscription) {
    if (isOlder(incoming, held)) return "outdated";
    if (incoming.sequence > held.sequence) return "fresh";
    // A robot may report twice within a millisecond, and the earlier report may come late: no reset.
    return isOfOneMoment(incoming, held) ? "outdated" : "reset";
  }
  if (incoming.sequence > held.sequence) return "fresh";
  return incoming.sequence === 0 ? "reset" : "regressed";
}

/** A robot loses fewer messages between two: a larger jump would hide the gaps of all others in the sum. */
const MOST_MISSED = 1_000_000;

/** How many messages are missing between the held one and a fresh one of the same subscription. */
export function missedBetween(held: SequenceMark | null, incoming: SequenceMark): number {
  if (held === null || held.sequence === null || incoming.sequence === null) return 0;
  return Math.min(MOST_MISSED, Math.max(0, incoming.sequence - held.sequence - 1));
}

function evaluateEqual(
  held: SequenceMark,
  incoming: SequenceMark,
  firstOfSubscription: boolean,
): SequenceVerdict {
  if (incoming.sourceTimeMs === held.sourceTimeMs) return "repeat";
  if (firstOfSubscription) return isOlder(incoming, held) ? "outdated" : "reset";
  // 0 is valid after every number, so a 0 with another timestamp is a second reset.
  return incoming.sequence === 0 ? "reset" : "repeat";
}

function isOfOneMoment(a: SequenceMark, b: SequenceMark): boolean {
  return a.sourceTimeMs !== null && a.sourceTimeMs === b.sourceTimeMs;
}

function isOlder(a: SequenceMark, b: SequenceMark): boolean {
  return a.sourceTimeMs !== null && b.sourceTimeMs !== null && a.sourceTimeMs < b.sourceTimeMs;
}
