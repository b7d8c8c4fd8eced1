import type { GrpcCodeName } from "../domain/errors.ts";
import type { RobotId } from "../domain/robot.ts";
import type { Stop } from "../domain/stops.ts";
import type { OpaqueRequest } from "./operation.ts";

/** How one call to the service ended. Nothing in it has been guessed. */
export type CallEnding =
  /** The service said OK. `responseJson` is proto3 JSON in snake_case with defaults. */
  | {
      readonly kind: "ok";
      readonly responseJson: string;
      /** The mission that the call made, the first of several. */
      readonly missionId: string | null;
      /** All of them, if the call made more than one. */
      readonly missionIds?: readonly string[];
      /** What the sender must know of the answer: that it is an old one, and from when. */
      readonly note?: string;
    }
  /**
   * The service refused, by a code that proves that nothing was done (fleet/calls/service-call.ts lists
   * them).
   */
  | { readonly kind: "refused"; readonly code: GrpcCodeName; readonly message: string }
  /** It is certain that nothing left: there was no connection to send it on, or a stop was made meanwhile. */
  | { readonly kind: "not_sent"; readonly message: string; readonly byStop?: true }
  /** Anything else: the robot may have acted, or may act later. */
  | { readonly kind: "unknown"; readonly code: GrpcCodeName; readonly message: string };

/** A call's place among other calls, until it leaves. */
export interface CallOrder {
  /** It stops a robot: the last places for calls are reserved for stops. */
  readonly isStop: boolean;
  /** Names the robot: a stop uses the connection on which a start of the same robot is under way. */
  readonly robot?: string;
  /**
   * False once a stop of the same robot was made (for a start), or a start that undoes it has left (for a
   * stop). The call then ends as `not_sent`, because it would undo the other.
   */
  readonly mayLeave: () => boolean;
  /** It leaves now: called right after `mayLeave`, each time that it leaves. */
  readonly leaves?: () => void;
}

/**
 * A call that is given up at its deadline may still arrive for so long. Then its connection is cut, unless
 * the service has answered something that was asked later.
 */
export const CUT_WITHIN_MS = 2_000;

/** The fleet service for the dispatcher. */
export interface FleetPort {
  /**
   * Sends one request once. Never retries a request that has an effect, never rejects.
   *
   * @param request what an operation of the catalogue has decoded
   * @param deadlineMs how long to wait for the answer
   * @param leaveWithinMs it leaves within this time or not at all, so that waiting for a connection does not
   * make it late. Without it only the deadline counts
   * @param order its place among other calls; without it, it is no stop, and waits for none
   */
  call(
    request: OpaqueRequest,
    deadlineMs: number,
    leaveWithinMs?: number,
    order?: CallOrder,
  ): Promise<CallEnding>;
}

/** A stop as a request of the catalogue, in proto3 JSON. */
export interface StopRequest {
  readonly operation: string;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Makes the request of a stop, for code that names no operation. */
export type MakeStopRequest = (robotId: RobotId, stop: Stop) => StopRequest;
