/**
 * How far a value is known to be true now (docs/opcua-reference.md, Is a value true?). From best to worst.
 */
export const qualities = ["good", "stale", "offline", "lost", "unknown"] as const;
export type Quality = (typeof qualities)[number];

/** How long each kind of silence is forgiven, in milliseconds. */
export interface QualityTimes {
  /** A stream is live while something proves it within this time. */
  readonly streamSilenceMs: number;
  /** A robot's snapshot is current while its last confirmation is younger than this. */
  readonly resyncMs: number;
  /** How long a value that is no longer good is still shown, as stale or offline. */
  readonly holdMs: number;
}

/**
 * The health of a value's source at one moment. Times are of one clock, in milliseconds. It is monotonic: a
 * wall clock that is set back would keep dead values alive.
 */
export interface SourceHealth {
  /** When the value was last received or confirmed; null: never. */
  readonly confirmedAtMs: number | null;
  /** Since when the session to the service is down; null while it is up. */
  readonly linkDownSinceMs: number | null;
  /** When traffic, a keepalive or a re-subscription last proved the stream alive. */
  readonly streamProvenAtMs: number;
  /**
   * From when the stream of this value counts as lost: it is cut, or was cut and the value has not been
   * confirmed since, so changes may have been missed. Later than now while the cut is forgiven. Null: nothing
   * was missed.
   */
  readonly streamLostFromMs: number | null;
  /** Since when GetOnlineRobots no longer lists the robot; null while it does, or if it is not polled. */
  readonly absentSinceMs: number | null;
}

/**
 * The quality of a value at `nowMs`, computed when it is read. It depends on the source alone: a value that
 * has not changed for long is not old. Runs for every message, so it allocates nothing.
 */
export function qualityAt(source: SourceHealth, times: QualityTimes, nowMs: number): Quality {
  if (source.confirmedAtMs === null) return "unknown";
  const offlineSinceMs = earlier(source.linkDownSinceMs, source.absentSinceMs);
  const silentSinceMs = passed(source.streamProvenAtMs + times.streamSilenceMs, nowMs);
  const outdatedSinceMs = passed(source.confirmedAtMs + times.resyncMs, nowMs);
  const lostSinceMs = reached(source.streamLostFromMs, nowMs);
  const staleSinceMs = earlier(lostSinceMs, earlier(silentSinceMs, outdatedSinceMs));
  const brokenSinceMs = earlier(offlineSinceMs, staleSinceMs);
  if (brokenSinceMs === null) return "good";
  if (nowMs - brokenSinceMs > times.holdMs) return "lost";
  return offlineSinceMs !== null ? "offline" : "stale";
}

/** The worse of two qualities. */
export function worse(a: Quality, b: Quality): Quality {
  return a === b || qualities.indexOf(a) > qualities.indexOf(b) ? a : b;
}

function passed(limitMs: number, nowMs: number): number | null {
  return nowMs > limitMs ? limitMs : null;
}

function reached(fromMs: number | null, nowMs: number): number | null {
  return fromMs !== null && fromMs <= nowMs ? fromMs : null;
}

/** The earlier of two moments; null: there is none. */
export function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null || a < b ? a : b;
}

/** The times of a robot's message. Null: the message had none. */
export interface Stamp {
  /** The robot's clock, in milliseconds since 1970. */
  readonly sourceTimeMs: number | null;
  readonly sequence: number | null;
  /** The gateway's clock when the message arrived. */
  readonly receivedAtMs: number;
  /** The robot's clock is wrong: its time orders the robot's own messages, and is never published. */
  readonly isClockWrong?: true;
}

/** The time that clients see as the robot's: the time of receipt if the robot's clock is wrong. */
export function sourceTimeOf({ sourceTimeMs, receivedAtMs, isClockWrong }: Stamp): number | null {
  return isClockWrong === true ? receivedAtMs : sourceTimeMs;
}

/** A value with its quality and times. */
export interface Observed<T> {
  readonly value: T;
  readonly stamp: Stamp;
  readonly quality: Quality;
  /** The newest message, which lists all of its kind, has it no more. */
  readonly isGone?: true;
}

/** How long something has not been good. */
export interface Age {
  note(isGood: boolean, nowMs: number): void;
  /** Seconds since it was last good, or since the beginning. 0 while it is good. */
  seconds(nowMs: number): number;
}

/** Begins as not good. */
export function createAge(nowMs: number): Age {
  let lastGoodMs = nowMs;
  let wasGood = false;
  return {
    note(isGood, atMs) {
      if (wasGood) lastGoodMs = atMs;
      wasGood = isGood;
    },
    seconds: (atMs) => (wasGood ? 0 : Math.max(0, Math.floor((atMs - lastGoodMs) / 1_000))),
  };
}
