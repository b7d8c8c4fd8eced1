import type { Role, Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * Who may send commands to what, before anybody has said which command (fleetgate's `rights` and `stations`).
 */
export interface CommandRights {
  /** Why this source may send the robot nothing that needs an operator; null when it may send something. */
  refusedRobot(source: Source, robotId: RobotId): string | null;
  /** Why this source may send the operation to no robot at all; null when it may send it to some. */
  refusedOperation(source: Source, operation: string, role: Role): string | null;
  /** Why this source may not lift other users' holds on the robot, or (null) on all; null when it may. */
  refusedLift(source: Source, robotId: RobotId | null): string | null;
  /** Why this source may not use the station's slot; null when it may. */
  refusedStation(source: Source, station: string): string | null;
}
