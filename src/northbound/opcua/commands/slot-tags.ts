import { type ISessionContext, StatusCodes } from "node-opcua";
import { type ErrorName, errorId } from "../../../domain/errors.ts";
import { type Outcome, type OutcomeName, outcomeNumbers } from "../../../domain/outcome.ts";
import {
  acceptedByNo,
  CLOSED_SHOWN,
  type TicketState,
  verdictNumbers,
  verdictOf,
} from "../../../domain/ticket-numbers.ts";
import { answerTags, COMMAND_LENGTH, requestTags } from "../model/slot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { showOwnValues } from "../node-opcua/own-values.ts";
import { fittingText } from "../node-opcua/tag.ts";
import type { WrittenTicket } from "./written-ticket.ts";

/** The numbers of `Outcome` before it is final. */
export const stageNumbers = {
  idle: outcomeNumbers.idle,
  accepted: outcomeNumbers.accepted,
  sent: outcomeNumbers.sent,
} as const;

/** The tags of a slot that the gateway writes, and the written tickets. */
export interface SlotTags {
  /** Updates everything at once: a subscriber to `Answer` never sees half of a change. */
  show(tickets: TicketState, result: SlotResult, rejectedText: string): void;
  /**
   * Shows the ticket that a user wrote, on the tag where it was written. The user's sessions see its verdict.
   */
  showWritten(written: WrittenTicket, user: string): void;
}

/** The result of a command that is not final yet. */
export function stageResult(stage: keyof typeof stageNumbers): SlotResult {
  return { outcome: stageNumbers[stage], error: "OK", text: "", retrySafe: false, missionId: "" };
}

/** The result of a command that has ended. */
export function finalResult(final: Outcome): SlotResult {
  return {
    outcome: outcomeNumber(final.outcome),
    error: final.code,
    text: outcomeText(final),
    retrySafe: final.retrySafe,
    missionId: final.missionId ?? "",
  };
}

/** `Outcome` as a number. */
export function outcomeNumber(outcome: OutcomeName): number {
  return outcomeNumbers[outcome];
}

/** The text about an outcome: what was wrong, and the evidence. */
export function outcomeText({ message, evidence }: Outcome): string {
  if (evidence === null || message === "") return evidence ?? message;
  return `${message}; evidence: ${evidence}`;
}

/** Adds a slot's answers; `RequestId`, `Command` and `CommandText` show what clients wrote. */
export function addSlotTags(
  builder: NodeBuilder,
  folder: Folder,
  userOf: (context: ISessionContext) => string,
): SlotTags {
  const written = builder.tags(folder, requestTags);
  const shown = builder.tags(folder, answerTags);
  const good = StatusCodes.Good;
  const times = builder.timesNow;
  const zero = times();
  written.RequestId.set(0, good, zero);
  written.Command.setList(new Array(COMMAND_LENGTH).fill(0), good, zero);
  written.CommandText.set("", good, zero);
  /** The last number of each user. */
  const asked = new Map<string, number>();
  let moment: SlotMoment | null = null;
  const ownAnswer = (context: ISessionContext) => {
    const user = userOf(context);
    return Int32Array.from(moment === null ? [] : answerFor(moment, { user, asked: asked.get(user) ?? 0 }));
  };
  showOwnValues(shown.Answer.variable, ownAnswer);
  showOwnValues(shown.AcceptedByNo.variable, (context) =>
    moment === null ? 0 : acceptedByNo(moment.tickets, userOf(context)),
  );
  return {
    show(tickets, result, rejectedText) {
      const at = times();
      const { accepted, rejected } = tickets;
      const isOthersNow = moment?.tickets.accepted?.user !== accepted?.user;
      moment = { tickets, result };
      shown.Outcome.set(result.outcome, good, at);
      shown.ErrorId.set(errorId(result.error), good, at);
      shown.ErrorText.set(fittingText(result.text), good, at);
      shown.RetrySafe.set(result.retrySafe, good, at);
      shown.MissionId.set(result.missionId, good, at);
      shown.AcceptedId.set(accepted?.id ?? 0, good, at);
      shown.AcceptedBy.set(accepted?.user ?? "", good, at);
      shown.AcceptedByNo.set(accepted?.userNo ?? 0, good, at);
      if (isOthersNow) shown.AcceptedByNo.renew(at);
      shown.AcceptedText.set(fittingText(accepted?.text ?? ""), good, at);
      shown.RejectedId.set(rejected.id, good, at);
      shown.RejectedError.set(errorId(rejected.error), good, at);
      shown.RejectedText.set(fittingText(rejectedText), good, at);
      shown.Closed.setList(closedOf(tickets), good, at);
      shown.DoneId.set(tickets.doneId, good, at);
      written.NextId.set(tickets.open, good, at);
      shown.Answer.setList(answerFor(moment, null), good, at);
    },
    showWritten({ number, order }, user) {
      const at = times();
      if (number !== 0 && asked.get(user) !== Math.abs(number)) {
        asked.set(user, Math.abs(number));
        shown.Answer.renew(at);
      }
      if (order.kind === "request") written.RequestId.set(number, good, at);
      else if (order.kind === "array") written.Command.setList([number, ...order.numbers], good, at);
      else written.CommandText.set(order.text, good, at);
    },
  };
}

/** The result of the command of `AcceptedId`, so far. */
export interface SlotResult {
  readonly outcome: number;
  readonly error: ErrorName;
  readonly text: string;
  readonly retrySafe: boolean;
  readonly missionId: string;
}

/** The state of a slot at one moment. */
interface SlotMoment {
  readonly tickets: TicketState;
  readonly result: SlotResult;
}

/** A user that reads, and the number that it wrote last; 0: none. */
interface Reader {
  readonly user: string;
  readonly asked: number;
}

/** `Answer`: all of it belongs to one moment. Null: for no user in particular. */
function answerFor({ tickets, result }: SlotMoment, reader: Reader | null): readonly number[] {
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
function closedOf({ closed }: TicketState): readonly number[] {
  return [...closed, ...new Array(CLOSED_SHOWN - closed.length).fill(0)];
}

/** The number that the user wrote, its verdict, and the outcome of its command. */
function verdictFor({ tickets, result }: SlotMoment, { user, asked }: Reader): readonly number[] {
  const verdict = verdictOf(tickets, user, asked);
  const isOwn = verdict === "under_way" || verdict === "ended";
  return [asked, verdictNumbers[verdict], isOwn ? result.outcome : 0];
}
