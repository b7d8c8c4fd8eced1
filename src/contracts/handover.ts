import type { Source } from "../domain/command.ts";

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

export interface HandoverState {
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
