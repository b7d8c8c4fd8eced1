import { type DataValue, type NumericRange, type StatusCode, StatusCodes } from "node-opcua";
import type { ErrorName } from "../../../domain/errors.ts";
import { isBusy, writeTicket } from "../../../domain/ticket.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";
import { describeError } from "../../../platform/log.ts";
import { isValueAlone } from "../write-act.ts";
import { createAttempts } from "./attempt.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotResult } from "./slot-answer.ts";
import { openSlotNumbers } from "./slot-numbers.ts";
import type { SlotKind, SlotParts } from "./slot-parts.ts";
import { finalResult, stageResult } from "./slot-tags.ts";
import type { Writer } from "./source-of.ts";
import type { Order, WrittenTicket } from "./written-ticket.ts";

/** A command slot: parameters that a client writes, and a ticket that makes one command of them, once. */
export interface Slot {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Why this user may write nothing here; null: it may. */
  refusedWriter(account: Writer["account"]): string | null;
  /** Writes one of the parameters, or returns why not. `range` is set if only some elements are written. */
  writeParameter(
    parameter: Parameter,
    value: DataValue,
    range: NumericRange | null,
    writer: Writer,
  ): StatusCode;
  /** A ticket was written, in a write request that is now done. */
  writeTicket(written: WrittenTicket, writer: Writer): void;
  /** Replaces an unused ticket that is old; called about once a second. */
  tick(): void;
  /** Whether its command has no final outcome yet. */
  isBusy(): boolean;
  /** The session has ended, or has another user: nothing that it wrote counts any more. */
  forgetSession(sessionId: string): void;
}

/** Runs a slot. Its tickets come from the store, if the store has the slot. */
export function createSlot(kind: SlotKind, parts: SlotParts): Slot {
  const { tags } = kind;
  const { clock, random } = parts;
  const parameters = createSessionParameters(kind);
  let result: SlotResult = stageResult("idle");
  let rejected: TicketState["rejected"] | null = null;
  let rejectedText = "";
  const numbers = openSlotNumbers(kind.path, parts, show);
  const attempts = createAttempts(kind, numbers, parts, (next) => {
    result = next;
  });
  wakeUp();

  function show(tickets: TicketState): void {
    if (tickets.rejected !== rejected) {
      rejected = tickets.rejected;
      rejectedText = rejectionText(rejected.error, numbers.trouble());
    }
    tags.show(tickets, result, rejectedText);
  }

  /** Shows the kept state, and continues the command that ran when the gateway stopped. */
  function wakeUp(): void {
    const tickets = numbers.tickets();
    const final = numbers.record?.final ?? null;
    if (final !== null) attempts.recall(final);
    if (final !== null && tickets.accepted?.id === tickets.doneId) result = finalResult(final);
    else if (tickets.accepted !== null) result = stageResult("accepted");
    show(tickets);
    if (tickets.current !== null && isBusy(tickets)) attempts.restore(tickets.current).catch(reportUnknown);
  }

  function reportUnknown(error: unknown): void {
    if (parts.signal.aborted) return;
    const message = "a slot takes stops only: what became of its command is not known";
    parts.log.error({ slot: kind.path, cause: describeError(error) }, message);
    result = { ...stageResult("accepted"), error: "JOURNAL_FAILED", text: message };
    show(numbers.tickets());
  }

  function draftOf(order: Order, { sessionId }: Writer): Draft {
    if (order.kind === "array") return kind.draftOfNumbers(order.numbers);
    if (order.kind === "text") return kind.draftOfFields(order.fields);
    return parameters.draft(sessionId);
  }

  function take({ number, order }: WrittenTicket, writer: Writer): void {
    const { account } = writer;
    const draft = draftOf(order, writer);
    const before = numbers.tickets();
    const attempt = attempts.prepare(draft, account, `${before.run}.${number}`);
    const isStop = attempt.kind === "command" && attempt.request.effect === "stops";
    const words = "text" in draft ? draft.text : "";
    const text = account.isDryRun && words !== "" ? `dry run: ${words}` : words;
    const asked = { number, isStop, user: account.name, userNo: account.number, text };
    const { state, action } = writeTicket(before, asked, clock.monotonicMs(), random());
    const kept = numbers.adopt(state);
    if (action !== "take") return;
    if (order.kind === "request") kind.served(writer.sessionId);
    attempts.begin(attempt, number, kept);
  }

  return {
    path: kind.path,
    parameters: kind.parameters,
    refusedWriter: kind.refusedWriter,
    writeParameter: parameters.write,
    writeTicket(written, writer) {
      const { number } = written;
      tags.showWritten(written, writer.account.name);
      const tickets = numbers.tickets();
      if (number > 0 && number === tickets.open) {
        take(written, writer);
      } else {
        const state = withoutCommand(tickets, number, writer, clock.monotonicMs(), random());
        if (state !== tickets) void numbers.adopt(state);
      }
    },
    tick: numbers.tick,
    isBusy: () => isBusy(numbers.tickets()),
    forgetSession: parameters.forget,
  };
}

/** The tickets after writing a number that starts nothing. */
function withoutCommand(
  tickets: TicketState,
  number: number,
  { account }: Writer,
  nowMs: number,
  random: number,
): TicketState {
  const idle = { number, isStop: false, user: account.name, userNo: account.number, text: "" };
  return writeTicket(tickets, idle, nowMs, random).state;
}

/** Why a number was put into `Closed`, for `RejectedText`; `trouble` is the disk's. */
function rejectionText(error: ErrorName, trouble: string | null): string {
  switch (error) {
    case "OK":
      return "";
    case "OUT_OF_TURN":
      return "the number was not NextId, and nothing was or will be sent under it: take a new one";
    case "TICKET_IN_USE":
      return "a command was still running, and nothing was sent: wait until DoneId is its number";
    case "USER_WITHOUT_NUMBER":
      return "the command of another user without a number was in the slot, and nothing was sent: give each user of the slot its opcua.users.<name>.number";
    case "TICKET_NOT_SHOWN":
      return "this slot does not know what became of the number: look at the robot";
    case "SHUTTING_DOWN":
      return "the gateway stopped before it was recorded, and nothing was sent: take a new number";
    default:
      return `${trouble ?? "the journal failed"}; nothing was sent, and stops are taken all the same`;
  }
}

/** The values of each session for a slot's parameters. */
interface SessionParameters {
  /** Writes one, or returns why not. `range` is set if only some elements are written. */
  write(parameter: Parameter, value: DataValue, range: NumericRange | null, writer: Writer): StatusCode;
  /**
   * The command of the session's values. A client that ignores status codes must not start a command with a
   * value that it believes replaced. So a refused write spoils the command, unless the command does not use
   * the value.
   */
  draft(sessionId: string): Draft;
  forget(sessionId: string): void;
}

function createSessionParameters(kind: Pick<SlotKind, "parameters" | "reads" | "draft">): SessionParameters {
  /** The parameters of each session whose last write was refused. */
  const refusedWrites = new Map<string, Set<string>>();

  return {
    write(parameter, written, range, writer) {
      const { sessionId } = writer;
      const status = isValueAlone(written)
        ? parameter.write(written.value, range, writer)
        : StatusCodes.BadWriteNotSupported;
      if (parameter.isFree === true) return status;
      const refused = refusedWrites.get(sessionId) ?? new Set();
      if (status === StatusCodes.Good) refused.delete(parameter.path);
      else {
        refused.add(parameter.path);
        for (const each of kind.parameters) if (each.isFree !== true) each.forget(sessionId);
      }
      if (refused.size === 0) refusedWrites.delete(sessionId);
      else refusedWrites.set(sessionId, refused);
      return status;
    },
    draft(sessionId) {
      const refused = refusedWrites.get(sessionId);
      const spoilt = kind.reads(sessionId).find(({ path }) => refused?.has(path));
      if (spoilt !== undefined) return { problem: `the last write to ${spoilt.path} was refused` };
      const draft = kind.draft(sessionId);
      if (!("problem" in draft) || refused === undefined) return draft;
      const paths = [...refused].join(", ");
      return { problem: `${draft.problem}; a refused write to ${paths} emptied the session's parameters` };
    },
    forget(sessionId) {
      refusedWrites.delete(sessionId);
      for (const each of kind.parameters) each.forget(sessionId);
    },
  };
}
