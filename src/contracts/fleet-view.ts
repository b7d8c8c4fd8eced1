import type { StateChange } from "../domain/change.ts";
import type { Coded } from "../domain/coded.ts";
import type { MissionStateName } from "../domain/mission.ts";
import type { Quality } from "../domain/observed.ts";
import type { Conveyor, Family, RobotId } from "../domain/robot.ts";

/** One robot of the list. */
export interface RobotSummary {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly quality: Quality;
}

/** The fleet as it is known now, qualities computed at this moment. */
export interface FleetView {
  robots(): readonly RobotSummary[];
  /** Every value as a change: all that a northbound needs at its start. */
  snapshot(): readonly StateChange[];
}

/** Where a queue of the delivery reads a value at the moment when it hands it out. */
export interface CurrentState {
  /** Every value. */
  snapshot(): readonly StateChange[];
  /** The present value of the key of `change`. */
  current(change: StateChange): StateChange;
}

/**
 * The ages of robots' positions. Each answer of the online list confirms the positions of the robots in it.
 */
export interface PlaceAges {
  /** Milliseconds since the newest list; null: there was none. */
  listAgeMs(): number | null;
  /** Null: no list had the robot. */
  placeAge(robotId: RobotId): PlaceAge | null;
  /** Whether the newest list has the robot, for callers that ask for every robot each second. */
  isListed(robotId: RobotId): boolean;
}

export interface PlaceAge {
  /** Milliseconds since a list last had the robot. */
  readonly ageMs: number;
  /** Whether the newest list has the robot. */
  readonly isListed: boolean;
}

/**
 * The last published state of a robot in earlier runs, so that the first message of this run shows what
 * happened meanwhile. Null: nothing is known of the robot.
 */
export interface PublishedBefore {
  /** The states of its missions, by mission id. */
  missions(robotId: RobotId): ReadonlyMap<string, Coded<MissionStateName>> | null;
  conveyors(robotId: RobotId): readonly Conveyor[] | null;
}
