import type { RobotId } from "../domain/robot.ts";

/** One box of a cluster. */
export interface ClusterMember {
  readonly name: string;
  /** The application URI of its OPC UA server; null: it has none. */
  readonly opcuaUri: string | null;
  /** The address of that server for clients, `opc.tcp://host:port`; absent or null: not known. */
  readonly opcuaUrl?: string | null;
}

/** The place of this gateway in its cluster, now. */
export interface ClusterView {
  /** Its own name among the members. */
  readonly member: string;
  /** All members, in the order of the configuration, which is the same on each of them. */
  readonly members: readonly ClusterMember[];
  /** It leads, and takes every command. False: it stands by, and takes stops only. */
  isActive(): boolean;
  /** The number of the newest epoch that it knows: a later leader has a higher one. 0: it knows none. */
  epoch(): number;
  /** The name of the leader of that epoch; null: nobody leads, as far as it knows. */
  leader(): string | null;
  /** For how long it has not been known that this member has all that the store has, in milliseconds. */
  lagMs(): number;
  /** Calls it after each change of `isActive`, `epoch` or `leader`. Returns what ends that. */
  onChange(listener: () => void): () => void;
}

/** A stop of one robot, as it is sent. */
export interface RobotStop {
  readonly robotId: RobotId;
  readonly operation: string;
  readonly requestJson: string;
}

/** What a cluster changes for commands. */
export interface SharedCommands {
  /** It leads. False: only stops and reads pass. */
  isLeading(): boolean;
  /** How long a call that an earlier leader has permitted may still arrive, in milliseconds. */
  readonly doubtMs: number;
  /** Whether the store has a record of the command, now; null: it does not answer. */
  isRecorded(commandId: string): Promise<boolean | null>;
  /** A stop of a user leaves here: the other members must know of it. */
  stopLeaves(stop: RobotStop): void;
  /** Why no start of this robot may leave for a moment; null: nothing is known that forbids it. */
  stoppedElsewhere(robotId: RobotId): string | null;
  /** The newest stop of the robot, if it came after the last write of the record of this command. */
  stopAfter(commandId: string, robotId: RobotId): RobotStop | null;
}
