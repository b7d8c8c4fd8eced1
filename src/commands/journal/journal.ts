import type { Command, CommandIdentity, Source } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { describeError } from "../../platform/error-text.ts";
import { startLoopTimer } from "../../platform/loop-time.ts";
import { ChangedMeanwhile } from "../../platform/store.ts";

/** The record of one command on disk. Plain data: it is stored as JSON. */
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
   * The request as it is sent, with an identity filled in if the operation has a field for it; "" once it is
   * final.
   */
  readonly sentJson: string;
  /** The state before the call left, for the evidence afterwards. */
  readonly baseline: unknown;
  readonly outcome: Outcome | null;
  /** The missions that it has made, if they are more than the one of its outcome. */
  readonly missionIds?: readonly string[];
}

/** A mission that a command has made. */
export interface MadeMission {
  readonly missionId: string;
  readonly command: CommandIdentity;
}

/** A command that has ended, and when. */
export interface EndedCommand {
  readonly id: string;
  readonly finalAtMs: number;
  /** The running time at its end: it orders ends, however the wall clock was set. */
  readonly runningMs: number;
}

/** A station's lease of a robot in the store. Plain data: it is stored as JSON. */
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
  /** When it was begun again on a member of a cluster that stood by, wall time in milliseconds. */
  readonly againMs?: number;
}

/** The key of a hold: a user has at most one on a robot, and one on all. */
export function holdKey({ robotId, owner }: StoredHold): string {
  return JSON.stringify([robotId, owner.protocol, owner.name]);
}

/** The bounds of a journal. Both hold; an unfinished record is never dropped. */
export interface JournalLimits {
  /** Running time since a record was last written. */
  readonly keepMs: number;
  readonly keepCount: number;
}

/** There is a record, but it cannot be read. */
export type DamagedRecord = "damaged";

/**
 * The records of commands. A record survives a crash once its `write` has resolved: "at most once" rests on
 * that (docs/commands.md, The promise).
 */
export interface Journal {
  find(id: string): JournalRecord | DamagedRecord | undefined;
  /** Whether the result of `find` would be there after a crash. */
  isOnDisk(id: string): boolean;
  /** Records without an outcome, oldest first. */
  unfinished(): readonly JournalRecord[];
  /** The missions that commands of the runs before this one have made: the newest, oldest first. */
  made(): readonly MadeMission[];
  /** The ends of commands in the runs before this one: the newest, in the order of their ends. */
  ended(): readonly EndedCommand[];
  /** Resolves when the record is on the disk; rejects if it may not be. */
  write(record: JournalRecord): Promise<void>;
  /** Whether the last write of the record still permits its call to leave. */
  permits(id: string): boolean;
  /** The leases at the end of the run before this one. */
  leases(): readonly StoredLease[];
  /**
   * Writes a robot's lease, or (null) removes it. Everything that was written before it is on the disk by
   * then.
   */
  writeLease(robotId: RobotId, lease: StoredLease | null): Promise<void>;
  /** The conveyors that were started and not known to stand at the end of the run before this one. */
  runs(): ReadonlyMap<RobotId, readonly StoredRun[]>;
  /** Writes a robot's started conveyors, or (null) removes them. */
  writeRuns(robotId: RobotId, runs: readonly StoredRun[] | null): Promise<void>;
  /** The holds at the end of the run before this one, oldest first. */
  holds(): readonly StoredHold[];
  /** Writes a user's hold, or (false) removes it. Resolves when that is on the disk. */
  writeHold(hold: StoredHold, isHeld: boolean): Promise<void>;
  /** Drops some of the finished records beyond the limits. Resolves with whether there may be more. */
  prune(): Promise<boolean>;
  /** Writes a record without a meaning. Resolves when it is on the disk; rejects if it may not be. */
  writeProbe(): Promise<void>;
  /** Writes some of the outcomes that the disk had refused. Resolves with whether there may be more. */
  writeMissed(): Promise<boolean>;
  /** Whether a damaged record was found since the journal was opened. */
  isDamaged(): boolean;
  figures(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** The missions that the record's command is known to have made. */
export function madeBy({ command, outcome, missionIds }: JournalRecord): readonly MadeMission[] {
  if (outcome === null) return [];
  const all = missionIds ?? (outcome.missionId === null ? [] : [outcome.missionId]);
  return all.map((missionId) => ({ missionId, command }));
}

/**
 * A disk that takes longer for a record has failed (docs/opcua-reference.md, A full disk while a slot is
 * used).
 */
const RECORD_WITHIN_MS = 1_000;

/** A journal that knows whether its disk works. */
export interface WatchedJournal extends Journal {
  /**
   * Resolves with null when the record is on the disk, and with the reason if it was not within a second. A
   * journal that members share has no such limit: the reason is known when the record cannot come later.
   */
  writeInTime(entry: JournalRecord): Promise<string | typeof changedMeanwhile | null>;
  /** Whether the last write reached the disk in time. */
  isWritable(): boolean;
  /** Whether it is closed, or closing: then nothing can be read from it. */
  isClosed(): boolean;
}

/** What the record rested on has changed, and it was not written. */
export const changedMeanwhile = Symbol("changed meanwhile");

/**
 * Watches every write of a journal. All code must write through the result, or the health does not see its
 * failures.
 */
export function watchJournal(journal: Journal, clock: Clock, isShared = false): WatchedJournal {
  let isWritable = true;
  let isClosed = false;

  async function watch<T>(writing: Promise<T>, onLate?: () => void): Promise<T> {
    const timer = startLoopTimer(clock, RECORD_WITHIN_MS, () => {
      isWritable = false;
      onLate?.();
    });
    try {
      const result = await writing;
      // False: there was nothing to remove, or to write.
      if (result !== false) isWritable = true;
      return result;
    } catch (error) {
      isWritable = error instanceof ChangedMeanwhile;
      throw error;
    } finally {
      timer.stop();
    }
  }

  return {
    ...journal,
    isWritable: () => isWritable,
    isClosed: () => isClosed,
    write: (entry) => watch(journal.write(entry)),
    writeInTime: (entry) =>
      new Promise((resolve) => {
        const onLate = () => resolve(`the disk took more than ${RECORD_WITHIN_MS} ms`);
        watch(journal.write(entry), isShared ? undefined : onLate).then(
          () => resolve(null),
          (error: unknown) =>
            resolve(error instanceof ChangedMeanwhile ? changedMeanwhile : describeError(error)),
        );
      }),
    writeLease: (robotId, lease) => watch(journal.writeLease(robotId, lease)),
    writeRuns: (robotId, runs) => watch(journal.writeRuns(robotId, runs)),
    writeHold: (hold, isHeld) => watch(journal.writeHold(hold, isHeld)),
    prune: () => watch(journal.prune()),
    writeProbe: () => watch(journal.writeProbe()),
    writeMissed: () => watch(journal.writeMissed()),
    close() {
      isClosed = true;
      return journal.close();
    },
  };
}
