import type { Stamp } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";

/** The counts of one kind of stream since the start. Nothing is dropped in silence. */
export interface StreamCounts {
  messages: number;
  repeats: number;
  /** Numbers that were skipped within a subscription. */
  missed: number;
  resets: number;
  /** Messages older than the held value, which were dropped. */
  outdated: number;
  /** Older messages that were accepted, because one subscription after the other brought them. */
  setBack: number;
  /** Lower numbers that were no reset: each caused a new subscription. */
  regressed: number;
  /** Messages that could not be decoded. */
  malformed: number;
}

/**
 * The sequence numbers of one event type, robot by robot (docs/internals/decisions.md, The sequence rules run
 * in the southbound).
 */
export interface SequenceTracker {
  readonly counts: StreamCounts;
  /**
   * Whether this call of the stream has brought no message of the robot yet: then a message is a snapshot.
   */
  isFirst(robotId: RobotId, stream: string, call: number): boolean;
  /** Evaluates and counts a message of this call of the stream. */
  evaluate(robotId: RobotId, stamp: Stamp, stream: string, call: number): SequenceVerdict;
  /**
   * Evaluates and counts a webhook delivery. Deliveries may overtake each other, so each counts as the first
   * message of a subscription: by number and time.
   */
  evaluateDelivery(robotId: RobotId, stamp: Stamp): SequenceVerdict;
  /** The stream that brings this robot; null: none does. */
  streamOf(robotId: RobotId): string | null;
  has(robotId: RobotId): boolean;
  /** How many robots this stream has sent before and the present call of it has not. */
  missing(stream: string, call: number): number;
  /** Those robots are no longer expected on this stream. */
  releaseMissing(stream: string, call: number): void;
  /** The robot is no longer expected on this stream. */
  release(robotId: RobotId): void;
}

interface Sequence {
  mark: Stamp | null;
  stream: string;
  call: number;
  /** How many subscriptions in a row began with a message older than the mark. */
  outdated: number;
}

/** New counts. */
export function createCounts(): StreamCounts {
  return {
    messages: 0,
    repeats: 0,
    missed: 0,
    resets: 0,
    outdated: 0,
    setBack: 0,
    regressed: 0,
    malformed: 0,
  };
}

/** One sequence for each robot, kept for the life of the process: a robot that comes back continues it. */
export function createSequenceTracker(): SequenceTracker {
  const sequences = new Map<RobotId, Sequence>();
  const counts = createCounts();

  function count(verdict: SequenceVerdict): void {
    if (verdict === "repeat") counts.repeats += 1;
    else if (verdict === "reset") counts.resets += 1;
    else if (verdict === "outdated") counts.outdated += 1;
    else if (verdict === "set_back") counts.setBack += 1;
    else if (verdict === "regressed") counts.regressed += 1;
  }

  function sequenceOf(robotId: RobotId): Sequence {
    let sequence = sequences.get(robotId);
    if (sequence === undefined) {
      sequence = { mark: null, stream: "", call: -1, outdated: 0 };
      sequences.set(robotId, sequence);
    }
    return sequence;
  }

  function settle(sequence: Sequence, stamp: Stamp, verdict: SequenceVerdict): void {
    counts.messages += 1;
    count(verdict);
    if (verdict !== "outdated") sequence.outdated = 0;
    if (isNews(verdict)) sequence.mark = stamp;
  }

  function isFirst(robotId: RobotId, stream: string, call: number): boolean {
    const sequence = sequences.get(robotId);
    return sequence === undefined || sequence.call !== call || sequence.stream !== stream;
  }

  return {
    counts,
    isFirst,
    evaluate(robotId, stamp, stream, call) {
      const first = isFirst(robotId, stream, call);
      const sequence = sequenceOf(robotId);
      const verdict = evaluateSequence(sequence.mark, stamp, first, sequence.outdated);
      if (!first && verdict === "fresh") counts.missed += missedBetween(sequence.mark, stamp);
      if (verdict === "outdated") sequence.outdated += 1;
      sequence.stream = stream;
      sequence.call = call;
      settle(sequence, stamp, verdict);
      return verdict;
    },
    evaluateDelivery(robotId, stamp) {
      const sequence = sequenceOf(robotId);
      const verdict = evaluateSequence(sequence.mark, stamp, true);
      settle(sequence, stamp, verdict);
      return verdict;
    },
    streamOf(robotId) {
      const stream = sequences.get(robotId)?.stream ?? "";
      return stream === "" ? null : stream;
    },
    has: (robotId) => sequences.has(robotId),
    missing(stream, call) {
      let missing = 0;
      for (const sequence of sequences.values())
        if (sequence.stream === stream && sequence.call < call) missing += 1;
      return missing;
    },
    releaseMissing(stream, call) {
      for (const sequence of sequences.values())
        if (sequence.stream === stream && sequence.call < call) sequence.stream = "";
    },
    release(robotId) {
      const sequence = sequences.get(robotId);
      if (sequence !== undefined) sequence.stream = "";
    },
  };
}

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
