import { type NumericRange, type StatusCode, StatusCodes, type Variant } from "node-opcua";
import {
  ownsTicketsOf,
  parameterOwner,
  reissueTicket,
  restartTickets,
  rotateTicket,
  type TicketAction,
  type TicketDecision,
  type TicketState,
  type TicketWriter,
  writeTicket,
} from "../../../domain/ticket.ts";
import { describeError } from "../../../platform/log.ts";
import { createAttempts } from "./attempt.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotKind, SlotParts, Writer } from "./slot-parts.ts";
import { openTicketBook } from "./ticket-book.ts";

/** How a ticket came: behind the parameters, in an array with them, or to confirm what was latched. */
export type Order =
  | { readonly kind: "request" }
  | { readonly kind: "array"; readonly numbers: readonly number[] }
  | { readonly kind: "confirm" };

/** A command slot: parameters that a client writes, and a ticket that makes them a command, once. */
export interface Slot {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Writes one of the parameters, or says why not. `range` is set when only some elements are written. */
  writeParameter(
    parameter: Parameter,
    variant: Variant,
    range: NumericRange | null,
    writer: Writer,
  ): StatusCode;
  /** A ticket was written, in a write request that is now done. */
  request(number: number, order: Order, writer: Writer): StatusCode;
  /** Replaces an unused ticket that is old; called about once a second. */
  tick(): void;
  /** A session of this user began: tickets that an earlier one may have copied are void. */
  sessionBegan(user: string): void;
}

/** Parameters as they stood when their ticket was written, by a client that confirms. */
interface Latched {
  readonly ticket: number;
  readonly sessionId: string;
  readonly draft: Draft;
  /** Another session has written this ticket too, and was denied: it may write it again for ever. */
  readonly isContested: boolean;
}

/** Runs a slot. Its tickets are those of the store, where it knows the slot. */
export function createSlot(kind: SlotKind, parts: SlotParts): Slot {
  const { tags } = kind;
  const { clock } = parts;
  let isRestoring = false;
  const book = openTicketBook(kind.path, parts, showTickets);
  const attempts = createAttempts(kind, book, parts);
  /** Parameters with the sessions whose last write to them was refused or denied. */
  const refusedWrites = new Map<string, Set<string>>();
  let latched: Latched | null = null;
  let lastWriter = book.user();
  wakeUp();

  function showTickets(tickets: TicketState): void {
    tags.showTickets(isRestoring || !book.mayIssue() ? { ...tickets, nextId: 0 } : tickets);
  }

  function wakeUp(): void {
    const tickets = book.tickets();
    if (book.record === null) {
      showTickets(tickets);
      return;
    }
    // With a ticket that is accepted and runs, nothing is shown of the one before.
    const isOthers = tickets.taken?.phase === "running" || tickets.taken?.replaces !== undefined;
    if (book.record.final !== null && !isOthers) attempts.recall(book.record.final);
    if (tickets.taken === null || tickets.taken.phase === "done") {
      void book.adopt(restartTickets(tickets, false, clock.nowMs()));
      return;
    }
    isRestoring = true;
    showTickets(tickets);
    const open = () => {
      isRestoring = false;
      showTickets(book.tickets());
    };
    attempts.restore(tickets.taken, open).catch(reportClosed);
  }

  function reportClosed(error: unknown): void {
    if (parts.signal.aborted) return;
    const message = "a slot stays closed: what became of its command is not known";
    tags.showError("JOURNAL_FAILED", message);
    parts.log.error({ slot: kind.path, cause: describeError(error) }, message);
  }

  /**
   * A client that does not look at status codes must not start a command with a value that it thinks it has replaced.
   * Values that the command does not use hold nothing back: least of all a stop.
   */
  function refusedWrite(writer: Writer): Draft | null {
    for (const { path } of kind.reads()) {
      if (refusedWrites.get(path)?.has(writer.sessionId)) {
        return { problem: `the last write to ${path} was refused` };
      }
    }
    return null;
  }

  function noteRefused({ path }: Parameter, { sessionId, isConnected }: Writer): void {
    const sessions = [...(refusedWrites.get(path) ?? [])].filter(isConnected);
    refusedWrites.set(path, new Set([...sessions, sessionId]));
  }

  function draftOf(order: Order, writer: Writer): Draft {
    switch (order.kind) {
      case "array":
        return kind.draftOf(order.numbers);
      case "confirm":
        return latched?.draft ?? { problem: "nothing is latched" };
      case "request":
        return refusedWrite(writer) ?? kind.draft();
    }
  }

  /** Keeps the parameters as they are now, and shows them, so that the client can see what it would start. */
  function latch(ticket: number, writer: Writer): StatusCode {
    // A ticket that is written in every cycle must not take a parameter in that came after the echo.
    if (latched?.ticket === ticket) return StatusCodes.Good;
    // Let go of, a contested ticket would start what was denied: it is void, and so is whatever is in turn with it.
    if (latched?.isContested === true) return rejectAndVoid(ticket);
    const draft = draftOf({ kind: "request" }, writer);
    latched = { ticket, sessionId: writer.sessionId, draft, isContested: false };
    for (const parameter of kind.parameters) parameter.echo();
    tags.showLatched(ticket);
    void book.adopt(rotateTicket(book.tickets(), clock.nowMs()));
    return StatusCodes.Good;
  }

  /** What another session has latched is its own to start: nothing of it may change. */
  function isLatchedByOther(number: number, order: Order, writer: Writer): boolean {
    if (latched === null || latched.sessionId === writer.sessionId) return false;
    if (order.kind === "confirm") return true;
    if (latched.ticket !== number) return false;
    latched = { ...latched, isContested: true };
    return true;
  }

  function unlatch(): void {
    latched = null;
    tags.showLatched(0);
  }

  function reject(
    state: TicketState,
    number: number,
    error: keyof typeof rejections | "JOURNAL_FAILED",
  ): StatusCode {
    const text =
      error === "JOURNAL_FAILED"
        ? `${book.trouble() ?? KEPT_TOO_SLOWLY}; nothing was sent`
        : rejections[error];
    tags.showError(error, text);
    void book.adopt(state.rejectedId === number ? state : { ...state, rejectedId: number });
    return StatusCodes.Good;
  }

  function isStop(order: Order, writer: Writer): boolean {
    const attempt = attempts.prepare(draftOf(order, writer), writer.account, "");
    return attempt.kind === "command" && attempt.command.effect === "stops";
  }

  /** A PLC that has lost its connection goes on in a new session, and must be able to stop what it started. */
  function ticketWriter({ sessionId, sinceMs, account, isConnected }: Writer): TicketWriter {
    const isSameUser = book.user() === account.name;
    return { id: sessionId, sinceMs, isHeirOf: (session) => isSameUser && !isConnected(session) };
  }

  /** What a write means: whether it is a stop matters while a command runs, and is made out then only. */
  function decide(number: number, order: Order, writer: Writer): TicketDecision {
    const session = ticketWriter(writer);
    const decision = writeTicket(book.tickets(), number, session, clock.nowMs());
    const { action } = decision;
    const isBusy = action.kind === "reject" && action.error === "TICKET_IN_USE";
    if (!isBusy || !isStop(order, writer)) return decision;
    return writeTicket(book.tickets(), number, session, clock.nowMs(), true);
  }

  function take(
    state: TicketState,
    action: Extract<TicketAction, { kind: "take" }>,
    order: Order,
    writer: Writer,
  ) {
    const attempt = attempts.prepare(draftOf(order, writer), writer.account, action.requestId);
    const isStop = attempt.kind === "command" && attempt.command.effect === "stops";
    if (book.trouble() !== null && !isStop) return reject(book.tickets(), action.ticket, "JOURNAL_FAILED");
    if (latched !== null) unlatch();
    attempts.begin(attempt, { ticket: action.ticket, state, user: writer.account.name });
    return StatusCodes.Good;
  }

  /**
   * Refuses a number for good, and with it what was latched: whatever is in turn is void from here on, lest
   * RejectedId name a ticket that is then taken.
   */
  function rejectAndVoid(number: number): StatusCode {
    if (latched !== null) unlatch();
    return reject(reissueTicket(book.tickets(), clock.nowMs()), number, "OUT_OF_TURN");
  }

  return {
    path: kind.path,
    parameters: kind.parameters,
    writeParameter(parameter, variant, range, writer) {
      const owner = parameter.isFree ? null : parameterOwner(book.tickets());
      if (owner !== null && !ownsTicketsOf(owner, ticketWriter(writer))) {
        // The slot may be this session's when its ticket comes: what stands here is not what it wrote.
        noteRefused(parameter, writer);
        return StatusCodes.BadUserAccessDenied;
      }
      const status = parameter.write(variant, range, writer.account);
      if (status === StatusCodes.Good) refusedWrites.get(parameter.path)?.delete(writer.sessionId);
      else if (!parameter.isFree) noteRefused(parameter, writer);
      return status;
    },
    request(number, order, writer) {
      if (isRestoring) return StatusCodes.BadResourceUnavailable;
      const { state, action } = decide(number, order, writer);
      if (action.kind === "deny") {
        if (book.mayIssue()) void book.adopt(state);
        return StatusCodes.BadUserAccessDenied;
      }
      if (action.kind === "take" && isLatchedByOther(number, order, writer)) {
        return StatusCodes.BadUserAccessDenied;
      }
      lastWriter = writer.account.name;
      tags.showWritten(number, order);
      if (action.kind === "repeat") return StatusCodes.Good;
      if (!book.mayIssue()) return reject(book.tickets(), number, "JOURNAL_FAILED");
      if (action.kind === "reject") {
        // A wrong number says that what is latched is not what was meant.
        const isMisconfirmed = order.kind === "confirm" && latched?.sessionId === writer.sessionId;
        return isMisconfirmed ? rejectAndVoid(number) : reject(state, number, action.error);
      }
      if (action.kind === "withdraw") {
        // ConfirmId is 0 while nothing is to be confirmed, and says nothing by it.
        if (order.kind === "confirm") return StatusCodes.Good;
        unlatch();
        void book.adopt(state);
        return StatusCodes.Good;
      }
      if (order.kind === "request" && writer.account.confirms) return latch(number, writer);
      if (order.kind === "confirm" && latched?.ticket !== number) return rejectAndVoid(number);
      return take(state, action, order, writer);
    },
    tick() {
      if (!isRestoring) book.tick();
    },
    sessionBegan(name) {
      const isKnown = name === lastWriter || name === book.user();
      if (isRestoring || !isKnown || !book.mayIssue()) return;
      unlatch();
      void book.adopt(reissueTicket(book.tickets(), clock.nowMs()));
    },
  };
}

const KEPT_TOO_SLOWLY = "the slot's tickets are not kept yet";

const rejections = {
  OUT_OF_TURN: "the number is not NextId: read NextId and copy it into RequestId",
  TICKET_IN_USE: "the command before is still running: wait until DoneId is its number",
} as const;
