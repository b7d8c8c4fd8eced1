import { CUT_WITHIN_MS } from "../../contracts/fleet-port.ts";

/** Each of two clocks may be wrong by a tenth: 1.1 / 0.9, rounded up. */
const DRIFT = 1.25;
const PERMISSION_MS = 2_000;
const PROOF_MS = 1_000;
/** A proof that waits for the store has failed after so long, and the next one follows. */
const STORE_DEADLINE_MS = 1_500;

export interface ProtocolOptions {
  readonly leaseMs: number;
  readonly callDeadlineMs: number;
  readonly evidenceMs: number;
}

/** How long things hold and are waited for, in milliseconds of the member's own clock. */
export interface ProtocolTimes extends ProtocolOptions {
  /** A call may leave for so long after its permission was asked for (L). */
  readonly permissionMs: number;
  /** A robot with a start in doubt is locked for so long after a takeover. */
  readonly doubtMs: number;
  /** A stop is sent a second time so long after it is known to all permissions. */
  readonly secondStopMs: number;
  /** A leader permits nothing for a robot for so long after it has seen a stop of another member. */
  readonly quietMs: number;
  /** The store is told of a stop for so long. */
  readonly announceMs: number;
  /** A leader without a session to the service lets another member lead after so long. */
  readonly cutMs: number;
  /** A member without a session leads when nobody has led for so long. */
  readonly unledMs: number;
  /** How often a leader proves that it leads. */
  readonly proofMs: number;
  /**
   * The store must take transactions for so long before a leader that is silent counts as gone: one that is
   * there has proven itself by then.
   */
  readonly answeringMs: number;
  /** Nobody is fenced before nobody has led for so long: a process that was killed starts again. */
  readonly fenceAfterMs: number;
  /** The wait before another attempt to fence. */
  readonly fencePauseMs: number;
  /** The wait before another attempt at what failed. */
  readonly retryMs: number;
}

export function protocolTimes(options: ProtocolOptions): ProtocolTimes {
  const secondStopMs = DRIFT * PERMISSION_MS;
  return {
    leaseMs: options.leaseMs,
    callDeadlineMs: options.callDeadlineMs,
    evidenceMs: options.evidenceMs,
    permissionMs: PERMISSION_MS,
    doubtMs: Math.max(options.evidenceMs, DRIFT * (PERMISSION_MS + options.callDeadlineMs + CUT_WITHIN_MS)),
    secondStopMs,
    quietMs: DRIFT * secondStopMs,
    announceMs: 60_000,
    cutMs: 5_000,
    unledMs: 30_000,
    proofMs: PROOF_MS,
    answeringMs: STORE_DEADLINE_MS + 1.5 * PROOF_MS,
    fenceAfterMs: 5_000,
    fencePauseMs: 15_000,
    retryMs: 250,
  };
}
