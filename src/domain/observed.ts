import type { Quality } from "./quality.ts";

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
