import type { Quality } from "./quality.ts";

/** What a robot's message says of itself. Null fields: the message had none. */
export interface Stamp {
  /** The robot's clock, in milliseconds since 1970. */
  readonly sourceTimeMs: number | null;
  readonly sequence: number | null;
  /** The gateway's clock when the message arrived. */
  readonly receivedAtMs: number;
  /** The robot's clock is wrong: its time orders its own messages, and is shown to nobody. */
  readonly isClockWrong?: true;
}

/** The time that clients see as the robot's: when the message arrived, where its own is not to be used. */
export function sourceTimeOf({ sourceTimeMs, receivedAtMs, isClockWrong }: Stamp): number | null {
  return isClockWrong === true ? receivedAtMs : sourceTimeMs;
}

/** A value with where it comes from, as a northbound may show it. */
export interface Observed<T> {
  readonly value: T;
  readonly stamp: Stamp;
  readonly quality: Quality;
}
