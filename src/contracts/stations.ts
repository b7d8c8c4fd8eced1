import type { Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";
import type { VisibleStation } from "../domain/station-visits.ts";

/** A robot's lease: the station that has it, and its owner. */
export interface RobotLease {
  readonly station: string;
  readonly owner: Source;
  /** Wall time in milliseconds; over restarts of the gateway. */
  readonly sinceMs: number;
}

/**
 * A station is one PLC and its destinations. While it leases a robot, all others may send that robot nothing
 * but stops (docs/plc.md, A load station).
 */
export interface Stations {
  leaseOf(robotId: RobotId): RobotLease | null;
}

/** The present values, for a protocol that begins to publish a station. */
export interface VisibleStations {
  /** The value now; later ones come as changes. Null: there is no such station yet. */
  shown(station: string): VisibleStation | null;
}
