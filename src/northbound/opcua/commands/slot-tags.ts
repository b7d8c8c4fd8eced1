import { StatusCodes } from "node-opcua";
import { type ErrorName, errorId } from "../../../domain/errors.ts";
import type { Outcome, OutcomeName } from "../../../domain/outcome.ts";
import { shownNextId, type TicketState } from "../../../domain/ticket.ts";
import { createEnumTable } from "../enumeration.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { isTooLong, LONGEST_TEXT_BYTES, type TagTimes } from "../tag.ts";

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
const stageNumbers = { idle: 0, accepted: 1, sent: 2 } as const;
const outcomeNumbers: Readonly<Record<OutcomeName, number>> = {
  succeeded: 3,
  refused: 4,
  expired: 5,
  unknown: 6,
  probably_succeeded: 7,
};

/** The half of a slot that the gateway writes. */
export interface SlotTags {
  showTickets(tickets: TicketState): void;
  showRequestId(number: number): void;
  showStage(stage: keyof typeof stageNumbers): void;
  /** Everything of an outcome but DoneId, which is the last to change. */
  showOutcome(outcome: Outcome, missionId: string): void;
  showError(error: ErrorName, text: string): void;
}

/** Adds a slot's answers; `RequestId` shows what clients wrote. */
export function addSlotTags(builder: NodeBuilder, folder: Folder, nowMs: () => number): SlotTags {
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
  const good = StatusCodes.Good;

  function times(): TagTimes {
    const now = new Date(nowMs());
    return { source: now, server: now };
  }
  function showError(error: ErrorName, text: string): void {
    const at = times();
    errorIdTag.set(errorId(error), good, at);
    errorText.set(fitting(text), good, at);
  }
  function showStage(stage: keyof typeof stageNumbers): void {
    const at = times();
    outcomeTag.set(stageNumbers[stage], good, at);
    showError("OK", "");
    retrySafe.set(false, good, at);
    missionIdTag.set("", good, at);
  }

  requestId.set(0, good, times());
  showStage("idle");
  return {
    showTickets(tickets) {
      const at = times();
      acceptedId.set(tickets.acceptedId, good, at);
      rejectedId.set(tickets.rejectedId, good, at);
      doneId.set(tickets.doneId, good, at);
      nextId.set(shownNextId(tickets), good, at);
    },
    showRequestId(number) {
      requestId.set(number, good, times());
    },
    showStage,
    showOutcome(outcome, missionId) {
      const at = times();
      showError(outcome.code, outcome.message);
      retrySafe.set(outcome.retrySafe, good, at);
      missionIdTag.set(missionId, good, at);
      outcomeTag.set(outcomeNumbers[outcome.outcome], good, at);
    },
    showError,
  };
}

/** An explanation is for people: its beginning is better than nothing, unlike that of an id. */
function fitting(text: string): string {
  if (!isTooLong(text)) return text;
  let shown = text.slice(0, LONGEST_TEXT_BYTES - 3);
  while (isTooLong(`${shown}...`)) shown = shown.slice(0, -1);
  return `${shown}...`;
}
