import { numberStatus } from "./ticket-numbers.ts";
import type { TicketState } from "./ticket-state.ts";

/** What became of a number that a user has written, for that user. */
export type Verdict = keyof typeof verdictNumbers;

/** `Answer[10]`. */
export const verdictNumbers = {
  /** This user has written no number since the gateway started, or the leader alone knows it. */
  none: 0,
  /** The number is open, or its command is being recorded. */
  open: 1,
  /** The user's own command of this number is under way. */
  under_way: 2,
  /** The user's own command of this number has ended. */
  ended: 3,
  /** Nothing was or ever will be sent under it for this user. */
  never_sent: 4,
  /** Not known: look at the robot. */
  look_first: 5,
} as const;

/** `AcceptedByNo` for everybody but the user itself, if that user has no number. */
const ANOTHER_WITHOUT_NUMBER = -1;

/**
 * What a number is to a user. It is true at any time: `never_sent` stays so, or becomes `look_first`. So a
 * program may act on it, whichever session wrote the number, and when.
 */
export function verdictOf(state: TicketState, user: string, number: number): Verdict {
  const { accepted, current, doneId } = state;
  if (number === 0) return "none";
  if (number === state.open) return "open";
  if (accepted?.id === number) {
    if (accepted.user !== user) return "never_sent";
    return doneId === number ? "ended" : "under_way";
  }
  if (current?.id === number) return current.user === user ? "open" : "never_sent";
  const status = numberStatus(state, number);
  if (status === "unknown" && state.isStopOnly === true) return "none";
  return status === "void" ? "never_sent" : "look_first";
}

/**
 * `AcceptedByNo` as a user sees it. Only the user's own command has 0: two users without a number would
 * otherwise take one command for theirs.
 */
export function acceptedByNo({ accepted }: TicketState, reader: string): number {
  if (accepted === null) return 0;
  const isOther = accepted.userNo === 0 && accepted.user !== reader;
  return isOther ? ANOTHER_WITHOUT_NUMBER : accepted.userNo;
}
