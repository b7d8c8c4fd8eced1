import type { Command, CommandIdentity, Source } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";

/** What is on disk of one command. Plain data: it is stored as JSON. */
export interface JournalRecord {
  /** The command's identity as one text. */
  readonly id: string;
  /** Of the operation and its canonical request: the same identity with another digest is another command. */
  readonly digest: string;
  /** Its request may be "" once it is final. */
  readonly command: Command;
  /** Its robot queue, and its robot by robot_id if that is known. */
  readonly queue: string;
  readonly robotId: RobotId | null;
  /** Wall times in milliseconds; null before. */
  readonly acceptedAtMs: number;
  readonly sentAtMs: number | null;
  readonly finalAtMs: number | null;
  /**
   * The request as it is sent, an identity filled in where the operation has a field for it; "" once it is
   * final.
   */
  readonly sentJson: string;
  /** What was known before the call left, for the evidence afterwards. */
  readonly baseline: unknown;
  readonly outcome: Outcome | null;
  /** The missions that it has made, where they are more than the one of its outcome. */
  readonly missionIds?: readonly string[];
}

/** A mission that a command has made. */
export interface MadeMission {
  readonly missionId: string;
  readonly command: CommandIdentity;
}

/** A command that came to its end, and when. */
export interface EndedCommand {
  readonly id: string;
  readonly finalAtMs: number;
  /** The running time then: what is behind what, however the wall clock was set. */
  readonly runningMs: number;
}

/** A station's lease of a robot, as it survives the gateway. Plain data: it is stored as JSON. */
export interface StoredLease {
  readonly robotId: RobotId;
  readonly station: string;
  readonly owner: Source;
  /** Wall time in milliseconds. */
  readonly sinceMs: number;
}

/** A conveyor of a robot that a command has started. Plain data: it is stored as JSON. */
export interface StoredRun {
  readonly index: number;
  /** The station that started it; null: it was started in another way. */
  readonly station: string | null;
  readonly owner: Source;
}

/** A user's hold on a robot, or (null) on all. Plain data: it is stored as JSON. */
export interface StoredHold {
  readonly robotId: RobotId | null;
  readonly owner: Source;
  /** Wall time in milliseconds. */
  readonly sinceMs: number;
}

/** What a journal keeps. Both bounds hold; an unfinished record is never dropped. */
export interface JournalLimits {
  /** Running time since a record was last written. */
  readonly keepMs: number;
  readonly keepCount: number;
}

/** There is a record, and nobody can say what it was. */
export type DamagedRecord = "damaged";

/**
 * The records of commands. What `write` has resolved for survives a crash: "at most once" rests on it
 * (design, Commands).
 */
export interface Journal {
  find(id: string): JournalRecord | DamagedRecord | undefined;
  /** Whether what `find` shows of it would be there after a crash. */
  isOnDisk(id: string): boolean;
  /** Records without an outcome, oldest first. */
  unfinished(): readonly JournalRecord[];
  /** The missions that commands of the runs before this one have made: the newest, oldest first. */
  made(): readonly MadeMission[];
  /** What came to its end in the runs before this one: the newest, in the order of their ends. */
  ended(): readonly EndedCommand[];
  /** Resolves when the record is on the disk; rejects when it may not be. */
  write(record: JournalRecord): Promise<void>;
  /** The leases that there were when the run before this one ended. */
  leases(): readonly StoredLease[];
  /** Keeps a robot's lease, or (null) none. What was written before it is on the disk when it is. */
  writeLease(robotId: RobotId, lease: StoredLease | null): Promise<void>;
  /** The conveyors that were started and not known to stand when the run before this one ended. */
  runs(): ReadonlyMap<RobotId, readonly StoredRun[]>;
  /** Keeps a robot's started conveyors, or (null) none. */
  writeRuns(robotId: RobotId, runs: readonly StoredRun[] | null): Promise<void>;
  /** The holds that there were when the run before this one ended, oldest first. */
  holds(): readonly StoredHold[];
  /** Keeps a user's hold, or (false) forgets it. Resolves when that is on the disk. */
  writeHold(hold: StoredHold, isHeld: boolean): Promise<void>;
  /** Drops some of the finished records beyond the limits. Resolves with whether there may be more. */
  prune(): Promise<boolean>;
  /** Writes a record that means nothing. Resolves when it is on the disk; rejects when it may not be. */
  writeProbe(): Promise<void>;
  /**
   * Writes some of the outcomes that the disk did not take when they came. Resolves with whether there may be
   * more.
   */
  writeMissed(): Promise<boolean>;
  /** Whether a damaged record was found since the journal was opened. */
  isDamaged(): boolean;
  figures(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** The missions that an record's command is known to have made. */
export function madeBy({ command, outcome, missionIds }: JournalRecord): readonly MadeMission[] {
  if (outcome === null) return [];
  const all = missionIds ?? (outcome.missionId === null ? [] : [outcome.missionId]);
  return all.map((missionId) => ({ missionId, command }));
}
