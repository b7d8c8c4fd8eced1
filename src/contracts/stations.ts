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
 * but stops (docs/load-station.md).
 */
export interface Stations {
  leaseOf(robotId: RobotId): RobotLease | null;
}

/** The present values, for a protocol that begins to publish a station. */
export interface VisibleStations {
  /** The value now; later ones come as changes. Null: there is no such station yet. */
  shown(station: string): VisibleStation | null;
}

/** The present permit of a station. */
export interface PermitState {
  /** False: the configuration requires no permit for this station, so it is always given. */
  readonly isRequired: boolean;
  /** Whether starts towards the station's destinations may leave. */
  readonly isGiven: boolean;
  /** Why it is not given, in words that follow the station's name; empty: it is given. */
  readonly reason: string;
}

/**
 * Permits: the standing signal of a station's PLC that robots may come. If the configuration requires one, no
 * start to the station's destinations leaves without it, whoever sends it. It needs a heartbeat, and does not
 * outlive the gateway. Stops pass. A permit is no safety function.
 */
export interface Permits {
  permitOf(station: string): PermitState;
}
