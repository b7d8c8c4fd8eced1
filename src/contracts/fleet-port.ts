import type { GrpcCodeName } from "../domain/errors.ts";
import type { OpaqueRequest } from "./operation.ts";

/** How one call to the service ended. Nothing in it has been guessed. */
export type CallEnding =
  /** The service said OK. `responseJson` is proto3 JSON in snake_case with defaults. */
  | {
      readonly kind: "ok";
      readonly responseJson: string;
      /** The mission that the call made, the first of several. */
      readonly missionId: string | null;
      /** All of them, where it made more than one. */
      readonly missionIds?: readonly string[];
      /** What the sender must know of the answer: that it is an earlier one, and from when. */
      readonly note?: string;
    }
  /** The service refused, by a code that proves that nothing was done (fleet/calls/ending.ts lists them). */
  | { readonly kind: "refused"; readonly code: GrpcCodeName; readonly message: string }
  /** It is certain that nothing left: there was no connection to send it on, or a stop was made meanwhile. */
  | { readonly kind: "not_sent"; readonly message: string; readonly byStop?: true }
  /** Anything else: the robot may have acted, or may act later. */
  | { readonly kind: "unknown"; readonly code: GrpcCodeName; readonly message: string };

/** A call's place among others, as long as it has not left. */
export interface CallOrder {
  /** It stops a robot: the last places for calls are kept for it. */
  readonly isStop: boolean;
  /** Names the robot, for a stop to follow a start of it on the same connection. */
  readonly robot?: string;
  /**
   * False from when a stop of the same robot was made (for a start), or a start that undoes it has left (for
   * a stop): what leaves after it would undo it, and ends `not_sent`.
   */
  readonly mayLeave: () => boolean;
  /** It leaves now: called in the same moment, after `mayLeave`, each time that it does. */
  readonly leaves?: () => void;
}

/** What the dispatcher calls. */
export interface FleetPort {
  /**
   * Sends one request once. Never retries what has an effect, never rejects.
   * @param request what an operation of the catalogue has decoded
   * @param deadlineMs how long to wait for the answer
   * @param leaveWithinMs it leaves within this time or not at all: waiting for a connection must not make
   *   it late. Without it there is only the deadline.
   * @param order its place among other calls; without it, it is no stop, and waits for none
   */
  call(
    request: OpaqueRequest,
    deadlineMs: number,
    leaveWithinMs?: number,
    order?: CallOrder,
  ): Promise<CallEnding>;
}
