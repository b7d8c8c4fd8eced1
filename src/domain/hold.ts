import type { Source } from "./command.ts";
import type { RobotId } from "./robot.ts";

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

/** The hold of one user. */
export interface StandingHold {
  /** Null: all robots. */
  readonly robotId: RobotId | null;
  readonly owner: Source;
  /** Wall time. */
  readonly sinceMs: number;
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
