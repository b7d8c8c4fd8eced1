import type { Source } from "../domain/command.ts";
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
  /** `warm`: a member that stands by has no session to the service, and no values. */
  readonly standby: "hot" | "warm";
  /** It leads, and takes every command. False: it stands by, and takes stops only. */
  isActive(): boolean;
  /** The number of the newest epoch that it knows: a later leader has a higher one. 0: it knows none. */
  epoch(): number;
  /** The name of the leader of that epoch; null: nobody leads, as far as it knows. */
  leader(): string | null;
  /** Why nobody leads, as a sentence; null: a member leads, or no reason is known. */
  unledBecause(): string | null;
  /** For how long it has not been known that this member has all that the store has, in milliseconds. */
  lagMs(): number;
  /** Robots that take no start before the end of an earlier leader's command is known. */
  robotsInDoubt(): number;
  /**
   * Notes a change of `isActive` now. Call it before values are given out that were set earlier: a process
   * that was held up gives them out before its timers run.
   */
  look(): void;
  /** Calls it after each change of `isActive`, `epoch` or `leader`. Returns what ends that. */
  onChange(listener: () => void): () => void;
}

/** A member may not lead before the one that led last cannot reach the service any more. */
export interface FenceState {
  /** The member that is to be fenced. */
  readonly of: string;
  /** Why that has failed, as the end of a sentence; null: it has not, and goes on. */
  readonly problem: string | null;
}

/** What a member says of its program. */
export interface MemberFacts {
  readonly version: string;
  /** A few digits of each section of its configuration that the members should have alike. */
  readonly configuration: Readonly<Record<string, string>>;
  /** The handover by which it leads; null: it stands by, or leads for another reason. */
  readonly handover: HandoverReport | null;
  /** Null or absent: it fences nobody. */
  readonly fence?: FenceState | null;
  /** The key in etcd of a record that it cannot read, so it does not begin to lead. Null or absent: none. */
  readonly unreadable?: string | null;
}

/** Another member, which was heard a moment ago. */
export interface OtherMember {
  readonly name: string;
  /** It has a session to the service, and can read all records, so it could lead. */
  readonly hasSession: boolean;
  /** Names its process; null: its version does not tell it. */
  readonly process?: string | null;
  /** The number of the epoch that it leads, since it takes commands; null: it stands by. */
  readonly leads: number | null;
  /** Null: its version does not tell them. */
  readonly facts: MemberFacts | null;
  /** By how much its wall clock is ahead of this one, within some milliseconds; null: it is not told. */
  readonly clockAheadMs: number | null;
}

/**
 * How this member came to lead after another one. `planned`: that one was stopped, or has handed over; `cut`:
 * it had no session to the service; `lost`: it has said nothing.
 */
export interface Takeover {
  readonly from: string;
  readonly why: "planned" | "cut" | "lost";
  /** From when nobody led until this member took commands, in milliseconds; null: not known. */
  readonly tookMs: number | null;
  /** What the leader before has left for its successor; null: nothing. */
  readonly note: unknown;
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

interface FenceRequest {
  readonly source: Source;
  /** The box that is off. */
  readonly member: string;
}

/** It counts as fenced, or why it does not, as a sentence. */
type FenceAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly lacksRight: boolean };

/** Lets a member of the cluster take over whose fence has failed. */
export interface FenceControl {
  /** The user has seen that the box is off. */
  confirm(request: FenceRequest): FenceAnswer;
}

/** One change of the leader, from one box to another. Durations in milliseconds. */
export interface HandoverLeg {
  readonly from: string;
  readonly to: string;
  /** When the new leader took commands; ISO 8601, UTC. */
  readonly at: string;
  /** How long it waited for conveyors. */
  readonly waited_ms: number;
  /** Conveyors that turned all the same, and were stopped. */
  readonly conveyors_stopped: number;
  /** How long no box took starts. */
  readonly refused_ms: number;
  /** Commands that ended meanwhile on the box that led, and were not sent. */
  readonly commands_not_sent: number;
  /** Commands whose answers the new leader has to find out. */
  readonly commands_under_way: number;
  /** Robots that took no other start at first, because of such a command. */
  readonly robots_in_doubt: number;
}

/** A handover, or a drill: there and back. */
export interface HandoverReport {
  readonly id: string;
  /** The user, as `cli:root`. */
  readonly by: string;
  readonly drill: boolean;
  readonly legs: readonly HandoverLeg[];
}

export interface HandoverRequest {
  readonly source: Source;
  /** The member that is to lead; null: the one that can. */
  readonly to: string | null;
  /** The other member hands back. */
  readonly isDrill: boolean;
}

/** A handover has begun, or why it has not, as a sentence. */
export type HandoverAnswer =
  | { readonly ok: true; readonly id: string; readonly from: string; readonly to: string }
  | { readonly ok: false; readonly reason: string };

interface HandoverState {
  readonly member: string;
  /** The member that leads; null: none is known. */
  readonly leader: string | null;
  /** What the handover that goes on here does now; null: none goes on. */
  readonly step: string | null;
  /** Why the last one was given up here; null: it was not. */
  readonly problem: string | null;
  /** The last one that the leader knows; null: it has come to lead in another way. */
  readonly last: HandoverReport | null;
}

/** Lets another member of the cluster lead. */
export interface HandoverControl {
  /** Answers when it has begun, or cannot. This process ends when it is done. */
  begin(request: HandoverRequest): HandoverAnswer;
  state(): HandoverState;
}
