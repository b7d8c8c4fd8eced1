import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
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
  /**
   * Begins the lease of `station` on a robot that stands at or drives to one of its destinations; a present
   * lease is confirmed, not renewed. Null: it is given, and on the disk; otherwise the refusal. Never
   * rejects.
   */
  ask(station: string, source: Source, robotId: RobotId): Promise<Outcome | null>;
  /**
   * Ends the lease, by its owner. Null: it is ended, or there was none; UNKNOWN_ROBOT: there is no such
   * robot.
   */
  release(station: string, source: Source, robotId: RobotId): Outcome | null;
  /** The heartbeat of this user of the station has changed. It renews the user's leases for that station. */
  heartbeat(station: string, source: Source): void;
  /** Ends the lease of any owner: for engineers. Null: it is ended, or there was none, as with `release`. */
  override(source: Source, robotId: RobotId): Outcome | null;
  leaseOf(robotId: RobotId): RobotLease | null;
  /** The robots that this user leases for the station now; null: there is no such station. */
  leased(station: string, source: Source): readonly RobotId[] | null;
}

/** The present values, for a protocol that begins to publish a station. */
export interface VisibleStations {
  /** The value now; later ones come as changes. Null: there is no such station yet. */
  shown(station: string): VisibleStation | null;
}
