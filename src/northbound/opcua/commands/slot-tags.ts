import { StatusCodes } from "node-opcua";
import { type ErrorName, errorId } from "../../../domain/errors.ts";
import { type Outcome, type OutcomeName, outcomeNumbers } from "../../../domain/outcome.ts";
import { shownNextId, type TicketState } from "../../../domain/ticket.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createEnumTable } from "../enumeration.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { isTooLong, LONGEST_TEXT_BYTES, type TagTimes } from "../tag.ts";
import type { Order } from "./slot.ts";

/** `Command`: the ticket, and what it is for. */
export const COMMAND_LENGTH = 12;
const ANSWER_LENGTH = 8;

/** `Outcome` by number (design, OPC UA: Command slots). */
const outcomeTable = createEnumTable([
  "IDLE",
  "ACCEPTED",
  "SENT",
  "SUCCEEDED",
  "REFUSED",
  "EXPIRED",
  "UNKNOWN",
  "PROBABLY_SUCCEEDED",
]);
/** The numbers of `Outcome` before it is final. */
export const stageNumbers = {
  idle: outcomeNumbers.idle,
  accepted: outcomeNumbers.accepted,
  sent: outcomeNumbers.sent,
} as const;

/** Where the numbers of a slot's answer stand in `Answer`. What follows is 0. */
const place = { accepted: 0, done: 1, outcome: 2, error: 3, retrySafe: 4, rejected: 5, next: 6 } as const;

/** The half of a slot that the gateway writes, and what clients wrote. */
export interface SlotTags {
  showTickets(tickets: TicketState): void;
  /** The number that a client wrote, where it wrote it. */
  showWritten(number: number, order: Order): void;
  /** The ticket whose parameters are echoed; 0: none. */
  showLatched(ticket: number): void;
  showStage(stage: keyof typeof stageNumbers): void;
  /** Everything of an outcome but DoneId, which is the last to change. */
  showOutcome(outcome: Outcome): void;
  showError(error: ErrorName, text: string): void;
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

/** Adds a slot's answers; `RequestId`, `ConfirmId` and `Command` show what clients wrote. */
export function addSlotTags(
  builder: NodeBuilder,
  folder: Folder,
  parts: { readonly clock: Clock; readonly offersConfirm: boolean },
): SlotTags {
  const nextId = builder.tag(folder, "NextId", "Int32");
  const requestId = builder.parameter(folder, "RequestId", "Int32");
  const acceptedId = builder.tag(folder, "AcceptedId", "Int32");
  const rejectedId = builder.tag(folder, "RejectedId", "Int32");
  const outcomeTag = builder.enumeration(folder, "Outcome", outcomeTable);
  const errorIdTag = builder.tag(folder, "ErrorId", "Int32");
  const errorText = builder.tag(folder, "ErrorText", "String");
  const retrySafe = builder.tag(folder, "RetrySafe", "Boolean");
  const missionIdTag = builder.tag(folder, "MissionId", "String");
  const doneId = builder.tag(folder, "DoneId", "Int32");
  const command = builder.parameter(folder, "Command", "Int32", COMMAND_LENGTH);
  const answerTag = builder.list(folder, "Answer", "Int32", ANSWER_LENGTH);
  const confirmId = parts.offersConfirm ? builder.parameter(folder, "ConfirmId", "Int32") : null;
  const latchedId = parts.offersConfirm ? builder.tag(folder, "LatchedId", "Int32") : null;
  const answer: number[] = new Array(ANSWER_LENGTH).fill(0);
  const good = StatusCodes.Good;

  function times(): TagTimes {
    const now = new Date(parts.clock.nowMs());
    return { source: now, server: now };
  }
  function showAnswer(at: TagTimes): void {
    answerTag.setList(answer, good, at);
  }
  function setError(error: ErrorName, text: string, at: TagTimes): void {
    answer[place.error] = errorId(error);
    errorIdTag.set(errorId(error), good, at);
    errorText.set(fitting(text), good, at);
  }
  /** All but MissionId at once: whoever reads the array never sees half of an answer. */
  function setResult(outcome: number, isRetrySafe: boolean, at: TagTimes): void {
    answer[place.outcome] = outcome;
    answer[place.retrySafe] = Number(isRetrySafe);
    retrySafe.set(isRetrySafe, good, at);
    outcomeTag.set(outcome, good, at);
  }
  function showStage(stage: keyof typeof stageNumbers): void {
    const at = times();
    setError("OK", "", at);
    missionIdTag.set("", good, at);
    setResult(stageNumbers[stage], false, at);
    showAnswer(at);
  }

  const zero = times();
  for (const tag of [requestId, confirmId, latchedId]) tag?.set(0, good, zero);
  command.setList(new Array(COMMAND_LENGTH).fill(0), good, zero);
  showStage("idle");
  return {
    showTickets(tickets) {
      const at = times();
      const next = shownNextId(tickets);
      answer[place.accepted] = tickets.acceptedId;
      answer[place.rejected] = tickets.rejectedId;
      answer[place.done] = tickets.doneId;
      answer[place.next] = next;
      acceptedId.set(tickets.acceptedId, good, at);
      rejectedId.set(tickets.rejectedId, good, at);
      doneId.set(tickets.doneId, good, at);
      nextId.set(next, good, at);
      showAnswer(at);
    },
    showWritten(number, order) {
      const at = times();
      if (order.kind === "request") requestId.set(number, good, at);
      else if (order.kind === "confirm") confirmId?.set(number, good, at);
      else command.setList([number, ...order.numbers], good, at);
    },
    showLatched(ticket) {
      latchedId?.set(ticket, good, times());
    },
    showStage,
    showOutcome(outcome) {
      const at = times();
      setError(outcome.code, outcomeText(outcome), at);
      missionIdTag.set(outcome.missionId ?? "", good, at);
      setResult(outcomeNumbers[outcome.outcome], outcome.retrySafe, at);
      showAnswer(at);
    },
    showError(error, text) {
      const at = times();
      setError(error, text, at);
      showAnswer(at);
    },
  };
}

/** An explanation is for people: its beginning is better than nothing, unlike that of an id. */
function fitting(text: string): string {
  if (!isTooLong(text)) return text;
  let shown = text.slice(0, LONGEST_TEXT_BYTES - 3);
  while (isTooLong(`${shown}...`)) shown = shown.slice(0, -1);
  return `${shown}...`;
}
