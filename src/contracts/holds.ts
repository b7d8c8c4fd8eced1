import type { ActiveHold, HoldState } from "../domain/hold.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * Holds: a user's standing "do not move" for one robot, or for all. While it lasts, the robot is stopped, and
 * no command that moves it is sent. Each user's hold is its own, outlives restarts, and resumes nothing when
 * it is lifted.
 */
export interface Holds {
  /** The refusal of a name that no robot has; null: there is such a robot, or it is not known yet. */
  refusedName(robotId: RobotId): Outcome | null;
  /** The hold on this robot, with the holds on all robots; null: the hold on all robots. */
  holdState(robotId: RobotId | null): HoldState;
  /** Every hold of every user. */
  all(): readonly ActiveHold[];
}
