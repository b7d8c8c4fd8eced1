import type { ActName } from "../domain/acts.ts";
import type { Command, Source } from "../domain/command.ts";
import type { ActiveHold, HoldState } from "../domain/hold.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";

/** An act as a protocol received it. */
export interface ActRequest {
  readonly source: Source;
  /** For the audit log. Absent or null: the sender gave none, and needs none. */
  readonly requestId?: string | null;
  readonly origin?: Command["origin"] | undefined;
  /** Tells programs of one source apart: each has a heartbeat of its own. */
  readonly session?: string;
  /** A JSON object; null if there is none, which `refused` then explains. */
  readonly fields: unknown;
  /** Why the protocol itself refuses the message. */
  readonly refused?: Outcome | null;
  /**
   * A tag was written. The tag shows that its robot exists. A program may write the same in every cycle, so a
   * repeated refusal is audited once.
   */
  readonly isTag?: true;
}

/** Performs the acts of users, and audits their refusals. */
export interface Acts {
  /** Performs it at once, before it is on the disk. Only `LeaseRobot` waits for the disk. */
  run(name: ActName, request: ActRequest): Outcome | Promise<Outcome>;
  /**
   * The same; then waits for the disk a second at most, and says so in `message` if a restart would not know
   * it.
   */
  answer(name: ActName, request: ActRequest): Promise<Outcome>;
  /**
   * Refuses and audits an act, before anything else is looked at, if its source has no right to it. Null: it
   * has the right. `robotId` is null if the act concerns no single robot.
   */
  refusedRight(name: ActName, request: ActRequest, robotId: RobotId | null): Outcome | null;
}

/**
 * Holds: a user's standing "do not move" for one robot, or for all. While it lasts, the robot is stopped, and
 * no command that moves it is sent. Each user's hold is its own, outlives restarts, and resumes nothing when
 * it is lifted.
 */
export interface Holds {
  /** The refusal of a name that no robot has; null: there is such a robot, or it is not known yet. */
  refusedName(robotId: RobotId): Outcome | null;
  /** The hold on this robot, with the holds on all robots; null: the hold on all robots. */
  holdState(robotId: RobotId | null): HoldState;
  /** Every hold of every user. */
  all(): readonly ActiveHold[];
}
