import type { Source } from "./command.ts";
import type { RobotId } from "./robot.ts";

/** The hold on a robot, or on all robots together. A hold is no safety function. */
export interface HoldState {
  readonly isHeld: boolean;
  /**
   * The users that hold it, the longest first, as `opcua:plc1`; ` (all)` follows if the user holds all
   * robots.
   */
  readonly by: readonly string[];
  /** Whether it outlives a restart: false until the disk has taken it. */
  readonly isStored: boolean;
}

/** The hold of one user. */
export interface ActiveHold {
  /** Null: all robots. */
  readonly robotId: RobotId | null;
  readonly owner: Source;
  /** Wall time. */
  readonly sinceMs: number;
}

/** The name of a user in holds: protocol and name. */
export function holderName({ protocol, name }: Source): string {
  return `${protocol}:${name}`;
}

/** Whether two states are equal. */
export function isSameHold(a: HoldState, b: HoldState): boolean {
  return (
    a.isStored === b.isStored && a.by.length === b.by.length && a.by.every((name, at) => name === b.by[at])
  );
}
