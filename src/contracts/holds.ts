import type { Source } from "../domain/command.ts";
import type { ActiveHold, HoldState } from "../domain/hold.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/** A user begins or lifts a hold. */
export interface HoldRequest {
  readonly source: Source;
  /** Null: all robots. */
  readonly robotId: RobotId | null;
  /** True begins the source's own hold, false lifts it. */
  readonly isHeld: boolean;
  /** Lifts this user's hold instead: for engineers. The name is that of `HoldState.by`, without ` (all)`. */
  readonly user?: string;
}

/**
 * Holds: a user's standing "do not move" for one robot, or for all. While it lasts, the robot is stopped, and
 * no command that moves it is sent. Each user's hold is its own, outlives restarts, and resumes nothing when
 * it is lifted.
 */
export interface Holds {
  /**
   * Begins a hold at once, or lifts it; the same again changes nothing. Null: it is accepted; otherwise the
   * refusal. A hold that its user lifts again within a second lasts until then (docs/commands.md, A hold that
   * is toggled): `holdState` has the present hold.
   */
  hold(request: HoldRequest): Outcome | null;
  /** The refusal of a name that no robot has; null: there is such a robot, or it is not known yet. */
  refusedName(robotId: RobotId): Outcome | null;
  /** The hold on this robot, with the holds on all robots; null: the hold on all robots. */
  holdState(robotId: RobotId | null): HoldState;
  /** Every hold of every user. */
  all(): readonly ActiveHold[];
}
