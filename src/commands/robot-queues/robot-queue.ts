import type { CallEnding } from "../../contracts/fleet-port.ts";
import type { RepeatRule } from "../../contracts/operation.ts";
import type { Effect } from "../../domain/command.ts";
import type { Outcome } from "../../domain/outcome.ts";

/** The stage of a command in its queue. */
export type WorkPhase =
  /** Behind another one. */
  | "waiting"
  /** First in the queue; the state before the call is being asked for. */
  | "preparing"
  /** The record that it was sent is being synced; the call follows. */
  | "leaving"
  /** The call is made: it waits for a connection, or has left. */
  | "sent"
  /** Between two sendings of a repeatable command. */
  | "pausing"
  /** The ending is unknown; evidence is sought. */
  | "seeking";

/** A command in its queue. */
export interface Work {
  readonly id: string;
  readonly effect: Effect;
  readonly repeat: RepeatRule;
  readonly needsBaseline: boolean;
  readonly phase: WorkPhase;
  /** Whether a record of it is on the disk. */
  readonly isRecorded: boolean;
  readonly hasBaseline: boolean;
  /** The last ending after which the robot may act; null: there was none. */
  readonly unknown: Extract<CallEnding, { kind: "unknown" }> | null;
}

/** The commands of one physical robot: one in flight, and a bounded number behind it. Immutable. */
export interface RobotQueue {
  /** The one in flight. */
  readonly head: Work | null;
  readonly waiting: readonly Work[];
  /** In parallel: stops, which go before everything, and reads, which disturb nothing. */
  readonly beside: readonly Work[];
  /** Sent by an earlier run: nothing moves before their outcomes are final. */
  readonly recovered: readonly string[];
}

export interface RobotQueueLimits {
  readonly maxQueue: number;
  readonly maxReads: number;
}

export type QueueInput =
  | { readonly kind: "submitted"; readonly work: Work }
  /** An earlier run has sent it; evidence is sought. */
  | { readonly kind: "recovered"; readonly id: string }
  /** `refused`: why it must not leave any more (expired, not good, leased, shutting down); null: it may. */
  | {
      readonly kind: "recorded";
      readonly id: string;
      readonly as: "accepted" | "sent";
      readonly refused: Outcome | null;
    }
  | { readonly kind: "record_failed"; readonly id: string; readonly message: string }
  /** The record of a stop is not on the disk yet: it waits no longer. */
  | { readonly kind: "record_late"; readonly id: string }
  | { readonly kind: "baseline_known"; readonly id: string }
  | { readonly kind: "ended"; readonly id: string; readonly ending: CallEnding }
  /** The pause before another sending is over. `over`: why it is not sent again; null: it is. */
  | { readonly kind: "again"; readonly id: string; readonly over: string | null }
  | { readonly kind: "sought"; readonly id: string; readonly outcome: Outcome }
  /** May no longer be sent: `outcome` says why. */
  | { readonly kind: "withdrawn"; readonly id: string; readonly outcome: Outcome };

export type QueueEffect =
  | { readonly kind: "record"; readonly id: string; readonly as: "accepted" | "sent" }
  | { readonly kind: "ask_baseline"; readonly id: string }
  | { readonly kind: "report_accepted"; readonly id: string }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "pause"; readonly id: string }
  /** Evidence is sought; without any, `otherwise` is the outcome. */
  | { readonly kind: "seek"; readonly id: string; readonly otherwise: Outcome }
  | { readonly kind: "finish"; readonly id: string; readonly outcome: Outcome };

export interface QueueStep {
  readonly queue: RobotQueue;
  readonly effects: readonly QueueEffect[];
}
