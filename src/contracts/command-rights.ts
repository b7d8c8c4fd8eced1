import type { Role, Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * Who may send commands to which robots, before the command itself is known (`rights` and `stations` of the
 * configuration).
 */
export interface CommandRights {
  /** Why this source may send the robot no command that needs an operator; null: it may send some. */
  refusedRobot(source: Source, robotId: RobotId): string | null;
  /** Why this source may send the operation to no robot at all; null: it may send it to some. */
  refusedOperation(source: Source, operation: string, role: Role): string | null;
  /** Why this source may not lift other users' holds on the robot, or (null) on all robots; null: it may. */
  refusedLift(source: Source, robotId: RobotId | null): string | null;
  /** Why this source may not use the station's slot; null: it may. */
  refusedStation(source: Source, station: string): string | null;
}
