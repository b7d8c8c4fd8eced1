import type { Source } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import type { StationShown } from "../domain/station-visits.ts";

/** A robot's lease: the station that has it, and the user that asked. */
export interface RobotLease {
  readonly station: string;
  readonly owner: Source;
  /** Wall time in milliseconds; over restarts of the gateway. */
  readonly sinceMs: number;
}

/**
 * A station is one PLC and its destinations. While it leases a robot, nothing but
 * stops may be sent to that robot by anybody else (docs/plc.md, A load station).
 */
export interface Stations {
  /**
   * Begins (or confirms, without renewing it) the lease of `station` on a robot that stands at or heads for
   * one of its destinations. Null when it is given, and on the disk; a refusal with the reason otherwise.
   * Never rejects.
   */
  ask(station: string, source: Source, robotId: RobotId): Promise<Outcome | null>;
  /**
   * Ends the lease, by its owner. Null when it is ended, or there was none; UNKNOWN_ROBOT where there is no
   * such robot.
   */
  release(station: string, source: Source, robotId: RobotId): Outcome | null;
  /** The heartbeat of this user of the station has changed. It keeps the leases that the user has for it. */
  heartbeat(station: string, source: Source): void;
  /**
   * Ends the lease of any owner: for engineers. Null when it is ended, or there was none, as with `release`.
   */
  override(source: Source, robotId: RobotId): Outcome | null;
  leaseOf(robotId: RobotId): RobotLease | null;
  /** The robots that this user leases for the station now; null: there is no such station. */
  leased(station: string, source: Source): readonly RobotId[] | null;
}

/** For a protocol that begins to show a station. */
export interface StandingStations {
  /** Now; what follows comes as changes. Null: there is no such station yet. */
  shown(station: string): StationShown | null;
}
