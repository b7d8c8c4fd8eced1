import { type ErrorName, errorId } from "../../../domain/errors.ts";
import { acceptedByNo, CLOSED_SHOWN, verdictNumbers, verdictOf } from "../../../domain/ticket-numbers.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";

/** The result of the command of `AcceptedId`, so far. */
export interface SlotResult {
  readonly outcome: number;
  readonly error: ErrorName;
  readonly text: string;
  readonly retrySafe: boolean;
  readonly missionId: string;
}

/** The state of a slot at one moment. */
export interface SlotMoment {
  readonly tickets: TicketState;
  readonly result: SlotResult;
}

/** A user that reads, and the number that it wrote last; 0: none. */
export interface Reader {
  readonly user: string;
  readonly asked: number;
}

/** `Answer`: all of it belongs to one moment. Null: for no user in particular. */
export function answerFor({ tickets, result }: SlotMoment, reader: Reader | null): readonly number[] {
  const { accepted, doneId, rejected, open } = tickets;
  const { outcome, error, retrySafe } = result;
  const byNo = reader === null ? (accepted?.userNo ?? 0) : acceptedByNo(tickets, reader.user);
  return [
    ...[accepted?.id ?? 0, doneId, outcome, errorId(error), Number(retrySafe)],
    ...[rejected.id, errorId(rejected.error), open, byNo],
    ...(reader === null ? [0, 0, 0] : verdictFor({ tickets, result }, reader)),
    ...closedOf(tickets),
  ];
}

/** `Closed`. */
export function closedOf({ closed }: TicketState): readonly number[] {
  return [...closed, ...new Array(CLOSED_SHOWN - closed.length).fill(0)];
}

/** The number that the user wrote, its verdict, and the outcome of its command. */
function verdictFor({ tickets, result }: SlotMoment, { user, asked }: Reader): readonly number[] {
  const verdict = verdictOf(tickets, user, asked);
  const isOwn = verdict === "under_way" || verdict === "ended";
  return [asked, verdictNumbers[verdict], isOwn ? result.outcome : 0];
}
