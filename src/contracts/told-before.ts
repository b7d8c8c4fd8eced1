import type { Coded } from "../domain/coded.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { MissionStateName } from "../domain/mission.ts";
import type { RobotId } from "../domain/robot.ts";

/**
 * What the events of earlier runs have said last of a robot, so that the first message of this run shows what
 * happened meanwhile. Null: nothing is known of it.
 */
export interface ToldBefore {
  /** The states of its missions, by mission. */
  missions(robotId: RobotId): ReadonlyMap<string, Coded<MissionStateName>> | null;
  conveyors(robotId: RobotId): readonly Conveyor[] | null;
}
