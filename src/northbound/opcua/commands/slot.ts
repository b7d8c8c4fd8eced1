import { createHash } from "node:crypto";
import { type NumericRange, type StatusCode, StatusCodes, type Variant } from "node-opcua";
import type { Commander, CommandRecords } from "../../../contracts/commander.ts";
import type { Catalogue } from "../../../contracts/operation.ts";
import type { Command, Source } from "../../../domain/command.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import {
  LAST_TICKET,
  mustPersist,
  newTickets,
  parameterOwner,
  reissueTicket,
  restartTickets,
  rotateTicket,
  type TakenTicket,
  type TicketState,
  ticketAccepted,
  ticketDone,
  writeTicket,
} from "../../../domain/ticket.ts";
import type { Clock } from "../../../platform/clock.ts";
import { describeError, type Log } from "../../../platform/log.ts";
import type { Account } from "../security.ts";
import { commandOf, type Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotTags } from "./slot-tags.ts";
import type { TicketStore } from "./ticket-store.ts";

/** What slots need of the rest of the gateway. */
export interface SlotParts {
  readonly commander: Commander;
  /** What became of commands that ran when the gateway stopped. */
  readonly records: CommandRecords;
  readonly catalogue: Catalogue;
  readonly tickets: TicketStore;
  /** Unlike every epoch before it: names the tickets of a slot that the store does not know. */
  readonly epoch: string;
  readonly startByMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
}

/** A session as slots know it. */
export interface Writer {
  readonly sessionId: string;
  readonly sinceMs: number;
  readonly account: Account;
}

/** A command slot: parameters that a client writes, and a ticket that makes them a command, once. */
export interface Slot {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Writes one of the parameters, or says why not. `range` is set when only some elements are written. */
  writeParameter(
    parameter: Parameter,
    variant: Variant,
    range: NumericRange | null,
    sessionId: string,
  ): StatusCode;
  /** A number was written to RequestId, in a write request that is now done. */
  request(number: number, writer: Writer): StatusCode;
  /** Replaces an unused ticket that is old. */
  rotate(): void;
  /** A session of this user began: tickets that an earlier one may have copied are void. */
  sessionBegan(user: string): void;
}

/** What is particular to one kind of slot. */
export interface SlotKind {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly tags: SlotTags;
  /** The command that the parameters stand for at this moment. */
  draft(): Draft;
  /** A command made this mission, or was about it. */
  follow(missionId: string): void;
}

/** Runs a slot. Its tickets are those of the store, where it knows the slot. */
export function createSlot(kind: SlotKind, parts: SlotParts): Slot {
  const { tags } = kind;
  const { clock } = parts;
  const record = parts.tickets.load(kind.path);
  let tickets = record?.tickets ?? firstTickets(kind.path, parts.epoch, clock.nowMs());
  let user = record?.user ?? null;
  /** Parameters whose last write was refused, with the session that wrote. */
  const refusedWrites = new Map<string, string>();
  const interrupted = tickets.taken?.phase === "done" ? null : tickets.taken;
  let isRestoring = interrupted !== null;
  if (interrupted !== null) restore(interrupted).catch(reportClosed);
  else if (record !== null) adoptSoon(restartTickets(tickets, false, clock.nowMs()));
  else tags.showTickets(tickets);

  /** Shows a state, and keeps it. The promise is for those who must not go on before it is kept. */
  function adopt(next: TicketState): Promise<void> {
    const before = tickets;
    tickets = next;
    tags.showTickets(next);
    return mustPersist(before, next) ? parts.tickets.save(kind.path, { tickets, user }) : Promise.resolve();
  }

  /** As adopt, where nothing depends on it: a record that is lost is found again through the journal. */
  function adoptSoon(next: TicketState): void {
    if (next !== tickets) adopt(next).catch(reportLostRecord);
  }

  function reportLostRecord(error: unknown): void {
    parts.log.error({ slot: kind.path, cause: describeError(error) }, "a slot's tickets could not be kept");
  }

  function reportClosed(error: unknown): void {
    if (parts.signal.aborted) return;
    parts.log.error(
      { slot: kind.path, cause: describeError(error) },
      "a slot stays closed: what became of its command is not known",
    );
  }

  /** A client that does not look at status codes must not start a command with a value that it thinks it has replaced. */
  function refusedWrite(writer: Writer): Draft | null {
    for (const [path, sessionId] of refusedWrites) {
      if (sessionId === writer.sessionId) return { problem: `the last write to ${path} was refused` };
    }
    return null;
  }

  function take(state: TicketState, ticket: number, requestId: string, writer: Writer): void {
    tags.showStage("idle");
    const draft = refusedWrite(writer) ?? kind.draft();
    const source: Source = { door: "opcua", name: writer.account.name };
    const identity = { source, requestId: commandRequestId(requestId) };
    const made = commandOf(draft, identity, parts.catalogue, clock.nowMs() + parts.startByMs);
    if ("outcome" in made) {
      adoptSoon(state);
      finish(ticket, made, null);
      return;
    }
    void run(ticket, made, "problem" in draft ? null : draft.missionId, adopt(state));
  }

  /** Never rejects: whatever happens is an outcome. */
  async function run(
    ticket: number,
    taken: Command,
    target: string | null,
    kept: Promise<void>,
  ): Promise<void> {
    try {
      await kept;
    } catch (error) {
      reportLostRecord(error);
      finish(ticket, refusal("JOURNAL_FAILED", "the ticket could not be kept; nothing was sent"), null);
      return;
    }
    const outcome = await outcomeOf(taken, ticket);
    if (outcome !== null) finish(ticket, outcome, target);
  }

  /** Null when the gateway stops before the outcome is known. */
  async function outcomeOf(submitted: Command, ticket: number): Promise<Outcome | null> {
    try {
      return await parts.commander.submit(submitted, parts.signal, (stage) => {
        tags.showStage(stage);
        if (stage === "accepted") adoptSoon(ticketAccepted(tickets, ticket));
      });
    } catch (error) {
      // The next start finds the command in the journal.
      if (parts.signal.aborted) return null;
      parts.log.error({ slot: kind.path, cause: describeError(error) }, "a command ended without an outcome");
      return ending("unknown", "INTERNAL_FAULT", "the gateway failed; look at the robot", false);
    }
  }

  function finish(ticket: number, outcome: Outcome, target: string | null): void {
    const missionId = outcome.missionId ?? target;
    const mayHaveActed = outcome.outcome !== "refused" && outcome.outcome !== "expired";
    if (mayHaveActed && missionId !== null) kind.follow(missionId);
    tags.showOutcome(outcome, missionId ?? "");
    adoptSoon(ticketDone(tickets, ticket));
  }

  /** Stays closed until the journal has said what became of the command that ran when the gateway stopped. */
  async function restore(taken: TakenTicket): Promise<void> {
    tags.showTickets({ ...tickets, nextId: 0 });
    const source: Source = { door: "opcua", name: user ?? "" };
    const outcome = await parts.records.recall(source, commandRequestId(taken.requestId));
    const wasJournaled = outcome !== null || taken.phase === "running";
    isRestoring = false;
    adoptSoon(restartTickets(tickets, wasJournaled, clock.nowMs()));
    if (wasJournaled) finish(taken.id, outcome ?? forgotten, null);
  }

  function commandRequestId(requestId: string): string {
    return `${kind.path}/${requestId}`;
  }

  return {
    path: kind.path,
    parameters: kind.parameters,
    writeParameter(parameter, variant, range, sessionId) {
      const owner = parameterOwner(tickets);
      if (owner !== null && owner !== sessionId) return StatusCodes.BadUserAccessDenied;
      const status = parameter.write(variant, range);
      if (status === StatusCodes.Good) refusedWrites.delete(parameter.path);
      else refusedWrites.set(parameter.path, sessionId);
      return status;
    },
    request(number, writer) {
      if (isRestoring) return StatusCodes.BadResourceUnavailable;
      const { state, action } = writeTicket(
        tickets,
        number,
        { id: writer.sessionId, sinceMs: writer.sinceMs },
        clock.nowMs(),
      );
      if (action.kind === "deny") return StatusCodes.BadUserAccessDenied;
      user = writer.account.name;
      tags.showRequestId(number);
      switch (action.kind) {
        case "repeat":
        case "withdraw":
          adoptSoon(state);
          return StatusCodes.Good;
        case "reject":
          tags.showError(action.error, rejections[action.error]);
          adoptSoon(state);
          return StatusCodes.Good;
        case "take":
          take(state, action.ticket, action.requestId, writer);
          return StatusCodes.Good;
      }
    },
    rotate() {
      if (!isRestoring) adoptSoon(rotateTicket(tickets, clock.nowMs()));
    },
    sessionBegan(name) {
      if (!isRestoring && name === user) adoptSoon(reissueTicket(tickets, clock.nowMs()));
    },
  };
}

/**
 * Where the store knows nothing, a number that an earlier life of the slot showed may still be written again and
 * again: so each life begins somewhere else.
 */
function firstTickets(path: string, epoch: string, nowMs: number): TicketState {
  const chance = createHash("sha256").update(`${epoch} ${path}`).digest().readUInt32BE();
  return { ...newTickets(epoch, nowMs), nextId: 1 + (chance % LAST_TICKET) };
}

const forgotten = ending(
  "unknown",
  "OUTCOME_UNKNOWN",
  "the gateway stopped while the command ran, and its journal does not know it any more",
  false,
);

const rejections = {
  OUT_OF_TURN: "the number is not NextId: read NextId and copy it into RequestId",
  TICKET_IN_USE: "the command before is still running: wait until DoneId is its number",
} as const;
