import type { Protocol, Role, Source } from "../domain/command.ts";
import type { RobotId } from "../domain/robot.ts";

/** The role that the section of a protocol gives to one of its users. Rules can only narrow it. */
export interface AccountRole {
  readonly source: Source;
  readonly role: Role;
  /** The key of the configuration, as `opcua.users.line1.role`. */
  readonly key: string;
  /** Only these robots, and the key that names them; absent: all. */
  readonly bound?: { readonly robots: readonly RobotId[]; readonly key: string };
}

/** One rule of rights. The rules of a source add up; every source may read. */
export interface RightsRule {
  /** The protocol, and the name that it has authenticated; "*" for any name. */
  readonly source: { readonly protocol: Protocol; readonly name: string };
  readonly role: Role;
  /** Only these robots; absent: all, and commands that concern no single robot. */
  readonly robots?: readonly RobotId[] | undefined;
  /** Only these operations; absent: all that the role may. */
  readonly operations?: readonly string[] | undefined;
}

/** Who may send what, of all protocols: `docs/security-and-certificates.md` has the same as a table. */
export interface Rights {
  readonly rules: readonly RightsRule[];
  /** Roles that a protocol's own section gives to its users. */
  readonly accounts: readonly AccountRole[];
}

/** One PLC and the destinations that are its own. */
export interface StationOptions {
  readonly name: string;
  /** Display names, or codes of points. */
  readonly destinations: readonly string[];
  /** The users that may ask for its leases; absent: every user that may move the robot. */
  readonly users?: readonly Source[] | undefined;
  /** A lease ends, and a permit is lost, if the station's heartbeat has not changed for this long. */
  readonly heartbeatMs: number;
  /** How long a conveyor may run that was started through the station, or during its lease. */
  readonly maxRunMs?: number | undefined;
  /** The same for single conveyors, by index. */
  readonly maxRunMsOf?: ReadonlyMap<number, number> | undefined;
  /**
   * Present: starts to its destinations need the permit of its PLC. `pauseOnLoss`: robots that drive there
   * are paused when it is lost.
   */
  readonly permit?: { readonly pauseOnLoss: boolean } | undefined;
}

/** Times and bounds of the dispatcher, all present. */
export interface DispatcherOptions {
  /** How long a call may wait for the service's answer. Longer than the service waits for a robot (10 s). */
  readonly callDeadlineMs: number;
  /** How long evidence is sought after an unknown ending. */
  readonly evidenceMs: number;
  /** How long a single fitting mission must stand alone before it counts. */
  readonly settleMs: number;
  /** The pause between two queries for evidence, and the longest between two sendings. */
  readonly pollMs: number;
  /** How long a stop waits for the disk before it leaves without a record. */
  readonly stopSyncMs: number;
  /** How long a conveyor may run that was started without a station; null: without a limit. */
  readonly maxRunMs: number | null;
  /** Commands waiting behind the one in flight, for each robot. */
  readonly maxQueue: number;
  /** Reads in flight at once, for each robot. */
  readonly maxReads: number;
}

/** How many commands one source may send. */
export interface SourceRate {
  /** On average. */
  readonly perSecond: number;
  /** At once, after a rest. */
  readonly burst: number;
}

/** Times and bounds of the intake, all present. */
export interface IntakeOptions {
  /** How long after its receipt a command without an expiry may be sent. */
  readonly startByMs: number;
  /** Commands in flight at once, of all sources and of one. Stops and repetitions may use as many again. */
  readonly maxCommands: number;
  readonly maxCommandsOfSource: number;
  /** The rate of each source of a protocol; absent: any. Stops do not count. */
  readonly rates: Readonly<Partial<Record<Source["protocol"], SourceRate>>>;
}

/**
 * At 2,000 commands a second this is one second: a pause of the disk or of the garbage collector refuses
 * nothing.
 */
export const intakeDefaults: IntakeOptions = {
  startByMs: 10_000,
  maxCommands: 2_048,
  maxCommandsOfSource: 512,
  rates: {},
};

/**
 * For a service that waits up to 10 s for a robot (docs/internals/service.md, How deployed services behave).
 */
export const dispatcherDefaults: DispatcherOptions = {
  callDeadlineMs: 15_000,
  evidenceMs: 15_000,
  settleMs: 1_000,
  pollMs: 2_000,
  stopSyncMs: 50,
  maxRunMs: null,
  maxQueue: 16,
  maxReads: 16,
};
