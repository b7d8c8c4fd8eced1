import {
  type DataValue,
  type ISessionContext,
  type NumericRange,
  type StatusCode,
  StatusCodes,
} from "node-opcua";
import type { CommandRights } from "../../../contracts/commander.ts";
import type { MakeStopRequest } from "../../../contracts/fleet-port.ts";
import type { ErrorName } from "../../../domain/errors.ts";
import { isBusy } from "../../../domain/ticket.ts";
import type { TicketState } from "../../../domain/ticket-state.ts";
import type { Live } from "../../../platform/live.ts";
import { describeError, type Log } from "../../../platform/log.ts";
import { isValueAlone } from "../write-act.ts";
import { type AttemptParts, createAttempts } from "./attempt.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotResult } from "./slot-answer.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { OpenSlotNumbers } from "./slot-numbers.ts";
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

/** The dependencies of slots of every kind. */
export interface SlotKindParts {
  /** Runs a slot: it takes what clients write, and executes its commands. */
  readonly runSlot: (kind: SlotKind) => Slot;
  readonly rights: CommandRights;
  readonly stopRequest: MakeStopRequest;
  /** Destinations by the numbers for PLCs without strings. */
  readonly destinations: Live<ReadonlyMap<number, string>>;
  /** The user of a session, like that of `Writer`; empty: none. */
  readonly userOf: (context: ISessionContext) => string;
}

/** The dependencies of a slot that runs. */
interface SlotParts extends AttemptParts {
  readonly openNumbers: OpenSlotNumbers;
  readonly log: Log;
}

/** Runs a slot. Its tickets come from the store, if the store has the slot. */
export function createSlot(
  kind: SlotKind,
  { openNumbers, commander, records, audit, clock, log, signal }: SlotParts,
): Slot {
  const { tags } = kind;
  const parameters = createSessionParameters(kind);
  let result: SlotResult = stageResult("idle");
  let rejected: TicketState["rejected"] | null = null;
  let rejectedText = "";
  const numbers = openNumbers(kind.path, show);
  const attempts = createAttempts(kind, numbers, { commander, records, audit, clock, signal }, (next) => {
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
    if (signal.aborted) return;
    const message = "a slot takes stops only: what became of its command is not known";
    log.error({ slot: kind.path, cause: describeError(error) }, message);
    result = { ...stageResult("accepted"), error: "JOURNAL_FAILED", text: message };
    show(numbers.tickets());
  }

  function commandOf(order: Order, { sessionId }: Writer): SlotCommand {
    if (order.kind === "array") return kind.commandOfNumbers(order.numbers);
    if (order.kind === "text") return kind.commandOfFields(order.fields);
    return parameters.command(sessionId);
  }

  function take({ number, order }: WrittenTicket, writer: Writer): void {
    const { account } = writer;
    const command = commandOf(order, writer);
    const attempt = attempts.prepare(command, account, `${numbers.tickets().run}.${number}`);
    const isStop = attempt.kind === "command" && attempt.request.effect === "stops";
    const words = "text" in command ? command.text : "";
    const text = account.isDryRun && words !== "" ? `dry run: ${words}` : words;
    const { action, kept } = numbers.write({
      number,
      isStop,
      user: account.name,
      userNo: account.number,
      text,
    });
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
      if (number > 0 && number === numbers.tickets().open) take(written, writer);
      else {
        const { name: user, number: userNo } = writer.account;
        numbers.write({ number, isStop: false, user, userNo, text: "" });
      }
    },
    tick: numbers.tick,
    isBusy: () => isBusy(numbers.tickets()),
    forgetSession: parameters.forget,
  };
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
  command(sessionId: string): SlotCommand;
  forget(sessionId: string): void;
}

function createSessionParameters(
  kind: Pick<SlotKind, "parameters" | "reads" | "command">,
): SessionParameters {
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
    command(sessionId) {
      const refused = refusedWrites.get(sessionId);
      const spoilt = kind.reads(sessionId).find(({ path }) => refused?.has(path));
      if (spoilt !== undefined) return { problem: `the last write to ${spoilt.path} was refused` };
      const command = kind.command(sessionId);
      if (!("problem" in command) || refused === undefined) return command;
      const paths = [...refused].join(", ");
      return { problem: `${command.problem}; a refused write to ${paths} emptied the session's parameters` };
    },
    forget(sessionId) {
      refusedWrites.delete(sessionId);
      for (const each of kind.parameters) each.forget(sessionId);
    },
  };
}
