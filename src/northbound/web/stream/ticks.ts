import type { Expiry } from "../../../contracts/commander.ts";
import type { Clock } from "../../../platform/clock.ts";

/** A start that a page sends later rests on old values. */
const START_MS = 10_000;
/** A user who pressed longer ago no longer waits for the stop. */
const STOP_MS = 5_000;

/**
 * The gateway's times, for commands of pages. A command names the tick that its page had last, so that it is
 * not sent when it no longer makes sense (docs/internals/decisions.md, A stop names the tick of its press).
 */
export interface Ticks {
  /** The id of the tick that is due now. */
  next(): string;
  /** The id of the last tick; null: none was sent. */
  last(): string | null;
  /** The id of this moment, for a reader without the stream. */
  fresh(): string;
  /** Why a command that names this tick is refused. */
  check(id: string): Pick<Expiry, "lacks" | "late">;
}

/** @param sessionId identifies the run: the monotonic clock of another run begins anew */
export function createTicks(sessionId: string, clock: Pick<Clock, "monotonicMs">): Ticks {
  const prefix = `${sessionId}.`;
  let last: string | null = null;
  const fresh = () => `${prefix}${Math.floor(clock.monotonicMs())}`;

  /** Infinite for an id that this run has not given. */
  function ageMs(id: string): number {
    const digits = id.startsWith(prefix) ? id.slice(prefix.length) : "";
    const age = /^\d{1,15}$/.test(digits) ? clock.monotonicMs() - Number(digits) : Number.NaN;
    return age >= 0 ? age : Number.POSITIVE_INFINITY;
  }

  return {
    next() {
      last = fresh();
      return last;
    },
    last: () => last,
    fresh,
    check(id) {
      const age = ageMs(id);
      const older = (seconds: number) => `the tick that it names is older than ${seconds} s`;
      return {
        lacks: age <= START_MS ? null : `look at the robot again: ${older(START_MS / 1_000)}`,
        late: age <= STOP_MS ? null : `press again: ${older(STOP_MS / 1_000)}`,
      };
    },
  };
}
