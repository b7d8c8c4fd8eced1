import type { StateChange } from "../domain/change.ts";
import type { Quality } from "../domain/quality.ts";
import type { Family, RobotId } from "../domain/robot.ts";

/** A line of the robot list. */
export interface RobotSummary {
  readonly robotId: RobotId;
  readonly family: Family;
  readonly quality: Quality;
}

/** The fleet as it is known now, qualities computed at this moment. */
export interface FleetView {
  robots(): readonly RobotSummary[];
  /** Every value there is, as changes: what a northbound needs to start from nothing. */
  snapshot(): readonly StateChange[];
}

/** Where a queue of the delivery reads what is true at the moment it hands something out. */
export interface CurrentState {
  /** Every value there is. */
  snapshot(): readonly StateChange[];
  /** The value that `change` is about, as it stands now. */
  current(change: StateChange): StateChange;
}

/**
 * How old the places of robots are. Each answer of the online list confirms the places of the robots that it
 * has.
 */
export interface PlaceAges {
  /** Milliseconds since the newest list; null: there was none. */
  listAgeMs(): number | null;
  /** Null: no list had the robot. */
  placeAge(robotId: RobotId): PlaceAge | null;
  /** Whether the newest list has the robot: for those who ask of every robot each second. */
  isListed(robotId: RobotId): boolean;
}

export interface PlaceAge {
  /** Milliseconds since a list last had it. */
  readonly ageMs: number;
  /** Whether the newest list has it. */
  readonly isListed: boolean;
}
