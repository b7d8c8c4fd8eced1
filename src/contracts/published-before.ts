import type { Coded } from "../domain/coded.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { MissionStateName } from "../domain/mission.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * The last published state of a robot in earlier runs, so that the first message of this run shows what
 * happened meanwhile. Null: nothing is known of the robot.
 */
export interface PublishedBefore {
  /** The states of its missions, by mission id. */
  missions(robotId: RobotId): ReadonlyMap<string, Coded<MissionStateName>> | null;
  conveyors(robotId: RobotId): readonly Conveyor[] | null;
}
