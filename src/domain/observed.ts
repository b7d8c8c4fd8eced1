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
