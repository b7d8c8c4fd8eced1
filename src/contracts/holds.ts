import type { Source } from "../domain/command.ts";
import type { HoldState, StandingHold } from "../domain/hold.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/** What a user asks of a hold. */
export interface HoldRequest {
  readonly source: Source;
  /** Null: all robots. */
  readonly robotId: RobotId | null;
  /** True begins the source's own hold, false lifts it. */
  readonly isHeld: boolean;
  /** Lifts this user's hold instead, named as `HoldState.by` names it without ` (all)`: for engineers. */
  readonly user?: string;
}

/**
 * Holds: a user's standing "do not move" for one robot, or for all. While it lasts, what the robot does is
 * stopped, and nothing that moves it is sent. Each user's hold is its own, outlives restarts, and resumes
 * nothing when it is lifted.
 */
export interface Holds {
  /**
   * Begins a hold at once, or lifts it; the same again changes nothing. Null when it is taken, otherwise the
   * refusal. A hold that its user lifts again within a second lasts until then (docs/commands.md):
   * `holdState` says what holds.
   */
  hold(request: HoldRequest): Outcome | null;
  /** The refusal of a name that no robot has; null where there is such a robot, or nobody can say yet. */
  refusedName(robotId: RobotId): Outcome | null;
  /** What holds this robot, the holds of all robots included; null: what holds all robots. */
  holdState(robotId: RobotId | null): HoldState;
  /** Every hold of every user. */
  all(): readonly StandingHold[];
}
