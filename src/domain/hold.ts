import type { Source } from "./command.ts";

/** What holds a robot, or (of all robots) what holds them together. A hold is no safety function. */
export interface HoldState {
  readonly isHeld: boolean;
  /**
   * The users that hold it, the longest first, as `opcua:plc1`; ` (all)` follows where a user holds all
   * robots.
   */
  readonly by: readonly string[];
  /** Whether a restart would know the same: false while the disk has not taken it. */
  readonly isStored: boolean;
}

/** A user as holds name it: protocol and name. */
export function holderName({ protocol, name }: Source): string {
  return `${protocol}:${name}`;
}

/** Whether two states show the same. */
export function isSameHold(a: HoldState, b: HoldState): boolean {
  return (
    a.isStored === b.isStored && a.by.length === b.by.length && a.by.every((name, at) => name === b.by[at])
  );
}
