import { StatusCodes } from "node-opcua";
import { type ErrorName, errorId } from "../../../domain/errors.ts";
import { type Outcome, type OutcomeName, outcomeNumbers } from "../../../domain/outcome.ts";
import { CLOSED_SHOWN } from "../../../domain/ticket-numbers.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createEnumTable } from "../enumeration.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { fittingText, type TagTimes } from "../node-opcua/tag.ts";
import { COMMAND_LENGTH, type WrittenTicket } from "./written-ticket.ts";

const ANSWER_LENGTH = 20;

/** `Outcome` by number (design, OPC UA: Command slots). */
const outcomeTable = createEnumTable("SlotOutcome", [
  "IDLE",
  "ACCEPTED",
  "SENT",
  "SUCCEEDED",
  "REFUSED",
  "EXPIRED",
  "UNKNOWN",
  "PROBABLY_SUCCEEDED",
  "CHECKED",
]);
/** The numbers of `Outcome` before it is final. */
export const stageNumbers = {
  idle: outcomeNumbers.idle,
  accepted: outcomeNumbers.accepted,
  sent: outcomeNumbers.sent,
} as const;

/** What became of the command of `AcceptedId`, so far. */
export interface SlotResult {
  readonly outcome: number;
  readonly error: ErrorName;
  readonly text: string;
  readonly retrySafe: boolean;
  readonly missionId: string;
}

/** The half of a slot that the gateway writes, and what clients wrote. */
export interface SlotTags {
  /** Everything at once: a subscriber to `Answer` never sees half of a change. */
  show(tickets: TicketState, result: SlotResult, rejectedText: string): void;
  /** The ticket that a client wrote, where it wrote it. */
  showWritten(written: WrittenTicket): void;
  /** The ticket whose parameters are echoed; 0: none. */
  showLatched(ticket: number): void;
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

/** What is said of an outcome: what was wrong, and why it is thought to be right. */
export function outcomeText({ message, evidence }: Outcome): string {
  if (evidence === null || message === "") return evidence ?? message;
  return `${message}; evidence: ${evidence}`;
}

/** Adds a slot's answers; `RequestId`, `ConfirmId`, `Command` and `CommandText` show what clients wrote. */
export function addSlotTags(
  builder: NodeBuilder,
  folder: Folder,
  parts: { readonly clock: Clock; readonly offersConfirm: boolean },
): SlotTags {
  const int32 = (name: string) => builder.tag(folder, name, "Int32");
  const text = (name: string) => builder.tag(folder, name, "String");
  const nextId = int32("NextId");
  const requestId = builder.parameter(folder, "RequestId", "Int32");
  const command = builder.parameter(folder, "Command", "Int32", COMMAND_LENGTH);
  const commandText = builder.parameter(folder, "CommandText", "String");
  const confirmId = parts.offersConfirm ? builder.parameter(folder, "ConfirmId", "Int32") : null;
  const latchedId = parts.offersConfirm ? int32("LatchedId") : null;
  const outcome = builder.enumeration(folder, "Outcome", outcomeTable);
  const [errorIdTag, errorText] = [int32("ErrorId"), text("ErrorText")];
  const retrySafe = builder.tag(folder, "RetrySafe", "Boolean");
  const missionId = text("MissionId");
  const [acceptedId, acceptedBy] = [int32("AcceptedId"), text("AcceptedBy")];
  const [acceptedByNo, acceptedText] = [int32("AcceptedByNo"), text("AcceptedText")];
  const doneId = int32("DoneId");
  const [rejectedId, rejectedError] = [int32("RejectedId"), int32("RejectedError")];
  const rejectedTextTag = text("RejectedText");
  const closedTag = builder.list(folder, "Closed", "Int32", CLOSED_SHOWN);
  const answer = builder.list(folder, "Answer", "Int32", ANSWER_LENGTH);
  const good = StatusCodes.Good;

  function times(): TagTimes {
    const now = new Date(parts.clock.nowMs());
    return { source: now, server: now };
  }

  const zero = times();
  for (const tag of [requestId, confirmId, latchedId]) tag?.set(0, good, zero);
  command.setList(new Array(COMMAND_LENGTH).fill(0), good, zero);
  commandText.set("", good, zero);
  return {
    show(tickets, result, rejectedText) {
      const at = times();
      const { accepted, rejected } = tickets;
      const closed = [...tickets.closed, ...new Array(CLOSED_SHOWN - tickets.closed.length).fill(0)];
      outcome.set(result.outcome, good, at);
      errorIdTag.set(errorId(result.error), good, at);
      errorText.set(fittingText(result.text), good, at);
      retrySafe.set(result.retrySafe, good, at);
      missionId.set(result.missionId, good, at);
      acceptedId.set(accepted?.id ?? 0, good, at);
      acceptedBy.set(accepted?.user ?? "", good, at);
      acceptedByNo.set(accepted?.userNo ?? 0, good, at);
      acceptedText.set(fittingText(accepted?.text ?? ""), good, at);
      rejectedId.set(rejected.id, good, at);
      rejectedError.set(errorId(rejected.error), good, at);
      rejectedTextTag.set(fittingText(rejectedText), good, at);
      closedTag.setList(closed, good, at);
      doneId.set(tickets.doneId, good, at);
      nextId.set(tickets.open, good, at);
      answer.setList(answerOf(tickets, result, closed), good, at);
    },
    showWritten({ number, order }) {
      const at = times();
      if (order.kind === "request") requestId.set(number, good, at);
      else if (order.kind === "confirm") confirmId?.set(number, good, at);
      else if (order.kind === "array") command.setList([number, ...order.numbers], good, at);
      else commandText.set(order.text, good, at);
    },
    showLatched(ticket) {
      latchedId?.set(ticket, good, times());
    },
  };
}

/** `Answer` (design, OPC UA: Command slots): all of it belongs to one moment. */
function answerOf(
  { accepted, doneId, rejected, open }: TicketState,
  { outcome, error, retrySafe }: SlotResult,
  closed: readonly number[],
): readonly number[] {
  const reserved = [0, 0, 0];
  return [
    ...[accepted?.id ?? 0, doneId, outcome, errorId(error), Number(retrySafe)],
    ...[rejected.id, errorId(rejected.error), open, accepted?.userNo ?? 0],
    ...reserved,
    ...closed,
  ];
}
