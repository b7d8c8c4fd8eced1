import type { ErrorName } from "../../../domain/errors.ts";
import { isBusy } from "../../../domain/ticket.ts";
import type { TicketState } from "../../../domain/ticket-numbers.ts";
import { describeError } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { type AttemptParts, type Attempts, createAttempts } from "./attempt.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { SlotNumbers } from "./slot-numbers.ts";
import { finalResult, stageResult } from "./slot-tags.ts";

/** The numbers of a slot, and the commands that were taken under them. */
export interface SlotCommands {
  readonly numbers: SlotNumbers;
  readonly attempts: Attempts;
  /** Shows the kept state, and continues the command that ran when the gateway stopped. */
  wakeUp(): void;
  show(): void;
}

export interface SlotCommandParts extends AttemptParts {
  readonly log: Log;
}

/** Opens the numbers; `isShown`: whether the slot shows these now. */
export function openSlotCommands(
  kind: SlotKind,
  openNumbers: (show: (tickets: TicketState) => void) => SlotNumbers,
  isShown: () => boolean,
  { log, ...parts }: SlotCommandParts,
): SlotCommands {
  const { signal } = parts;
  let result = stageResult("idle");
  let rejected: TicketState["rejected"] | null = null;
  let rejectedText = "";
  const numbers = openNumbers(show);
  const attempts = createAttempts(kind, numbers, parts, (next) => {
    result = next;
  });

  function show(tickets: TicketState): void {
    if (tickets.rejected !== rejected) {
      rejected = tickets.rejected;
      rejectedText = rejectionText(rejected.error, numbers.trouble());
    }
    if (isShown()) kind.tags.show(tickets, result, rejectedText);
  }

  function reportUnknown(error: unknown): void {
    if (signal.aborted) return;
    const message = "a slot takes stops only: what became of its command is not known";
    log.error({ slot: kind.path, cause: describeError(error) }, message);
    result = { ...stageResult("accepted"), error: "JOURNAL_FAILED", text: message };
    show(numbers.tickets());
  }

  return {
    numbers,
    attempts,
    wakeUp() {
      const tickets = numbers.tickets();
      const final = numbers.record?.final ?? null;
      if (final !== null) kind.ended(final.missionId);
      if (final !== null && tickets.accepted?.id === tickets.doneId) result = finalResult(final);
      else if (tickets.accepted !== null) result = stageResult("accepted");
      show(tickets);
      if (tickets.current !== null && isBusy(tickets)) attempts.restore(tickets.current).catch(reportUnknown);
    },
    show: () => show(numbers.tickets()),
  };
}

/** Why a number was put into `Closed`, for `RejectedText`; `trouble` is the disk's. */
function rejectionText(error: ErrorName, trouble: string | null): string {
  switch (error) {
    case "OK":
      return "";
    case "OUT_OF_TURN":
      return "the number was not NextId, and nothing was or will be sent under it: take a new one";
    case "SLOT_IN_USE":
      return "a command was still running, and nothing was sent: wait until DoneId is its number";
    case "USER_WITHOUT_NUMBER":
      return "the command of another user without a number was in the slot, and nothing was sent: give each user of the slot its opcua.users.<name>.number";
    case "UNKNOWN_NUMBER":
      return "this slot does not know what became of the number: look at the robot";
    case "SHUTTING_DOWN":
      return "the gateway stopped before it was recorded, and nothing was sent: take a new number";
    case "CANCELED_BY_STOP":
      return "a stop came before it was recorded, and nothing was sent: take a new number";
    default:
      return `${trouble ?? "the journal failed"}; nothing was sent, and stops are taken all the same`;
  }
}
