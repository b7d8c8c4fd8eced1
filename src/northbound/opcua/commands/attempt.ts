import type {
  Commander,
  CommandRecords,
  Envelope,
  RefusalAudit,
  RefusedRequest,
} from "../../../contracts/commander.ts";
import type { ParsedRequest } from "../../../contracts/operation.ts";
import { checked, ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import { ticketAccepted, ticketDone, ticketVoid } from "../../../domain/ticket.ts";
import type { TakenTicket } from "../../../domain/ticket-numbers.ts";
import { type Clock, noLaterThan } from "../../../platform/clock.ts";
import type { Account } from "../security.ts";
import { sourceOf } from "../security.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { SlotKind } from "./slot-kind.ts";
import type { SlotNumbers } from "./slot-numbers.ts";
import { finalResult, type SlotResult, stageResult } from "./slot-tags.ts";

/** How long a stop waits for the disk before it is sent without a record. */
const STOP_SYNC_MS = 50;

/** The command of a ticket, prepared before the ticket is taken. */
export type Attempt =
  | {
      readonly kind: "command";
      readonly envelope: Envelope;
      readonly request: ParsedRequest;
      /** The mission that it concerns. */
      readonly target: string | null;
    }
  /** It is no command, or ends without becoming one. */
  | { readonly kind: "local"; end(): Outcome | Promise<Outcome> };

/** Executes the commands of a slot, and shows each step. */
export interface Attempts {
  /** Prepares a command; `requestId` is that of the ticket. */
  prepare(command: SlotCommand, account: Account, requestId: string): Attempt;
  /** A ticket was taken; `kept` resolves with whether its number is on disk. */
  begin(attempt: Attempt, ticket: number, kept: Promise<boolean>): void;
  /** Ends the command that ran when the gateway stopped. Rejects if its outcome cannot be found out. */
  restore(taken: TakenTicket): Promise<void>;
  /** A stop came that takes no number of these: starts whose number is being recorded are not sent. */
  cancelStarts(): void;
}

/** The dependencies of attempts. */
export interface AttemptParts {
  readonly commander: Commander;
  /** The records of commands that ran when the gateway stopped. */
  readonly records: Pick<CommandRecords, "recall">;
  /** Refusals of calls that are no command are audited there. */
  readonly audit: RefusalAudit;
  readonly clock: Clock;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
}

/** `showResult` sets the result that is shown with the next state of the sequence numbers. */
export function createAttempts(
  kind: SlotKind,
  numbers: SlotNumbers,
  { commander, records, audit, clock, signal }: AttemptParts,
  showResult: (result: SlotResult) => void,
): Attempts {
  const audited = auditorOf(kind, audit);
  let cancellations = 0;

  /** A stop has taken the slot: the end of the earlier command is no longer shown here. */
  function isReplaced(ticket: number): boolean {
    return numbers.tickets().current?.id !== ticket;
  }

  /** Never rejects: any failure becomes an outcome. */
  async function run(
    { envelope, request, target }: Extract<Attempt, { kind: "command" }>,
    ticket: number,
    kept: Promise<boolean>,
  ): Promise<void> {
    const isStop = request.effect === "stops";
    const entry = { ...asRefused(kind, envelope), robotId: request.robotId };
    const cancellationsBefore = cancellations;
    const isKept = await (isStop ? noLaterThan(clock, STOP_SYNC_MS, kept, false) : kept);
    const isCanceled = isReplaced(ticket) || cancellations !== cancellationsBefore;
    if (!isStop && (isCanceled || !isKept)) {
      const refused = isCanceled
        ? refusal("CANCELED_BY_STOP", "a stop took the slot before it was recorded; it was not sent")
        : refusal("JOURNAL_FAILED", `${numbers.trouble() ?? "the disk failed"}; it was not sent`);
      audited(entry, refused);
      void numbers.adopt(ticketVoid(numbers.tickets(), ticket, refused.code));
      return;
    }
    const outcome = await outcomeOf(envelope, ticket);
    if (outcome !== null) finish(ticket, outcome, target);
  }

  function showStage(ticket: number, operation: string | null, stage: "accepted" | "sent"): void {
    if (isReplaced(ticket)) return;
    if (operation !== null) kind.begun(operation);
    showResult(stageResult(stage));
    void numbers.adopt(ticketAccepted(numbers.tickets(), ticket));
  }

  /** Null: the gateway stops before the outcome is known. */
  function outcomeOf(envelope: Envelope, ticket: number): Promise<Outcome | null> {
    const submitted = commander.submit(envelope, signal, (stage) =>
      showStage(ticket, envelope.operation, stage),
    );
    // The next start finds the command in the journal.
    return submitted.catch(() => null);
  }

  function finish(ticket: number, outcome: Outcome, target: string | null): void {
    if (isReplaced(ticket)) return;
    const final = { ...outcome, missionId: outcome.missionId ?? target };
    kind.ended(final.missionId);
    showResult(finalResult(final));
    void numbers.adopt(ticketDone(numbers.tickets(), ticket), final);
  }

  async function restore({ id, requestId, user, phase }: TakenTicket): Promise<void> {
    const source = sourceOf({ name: user });
    const outcome = await records.recall(source, `${kind.path}/${requestId}`, (stage) =>
      showStage(id, null, stage),
    );
    if (outcome !== null || phase === "running") return finish(id, outcome ?? forgotten, null);
    if (isReplaced(id)) return;
    // A number that was not recorded started nothing. The slot belongs again to the command that the stop was
    // to displace.
    const next = ticketVoid(numbers.tickets(), id, "SHUTTING_DOWN");
    void numbers.adopt(next);
    if (next.current !== null && next.current.phase !== "done") await restore(next.current);
  }

  return {
    prepare(command, account, requestId) {
      const { origin = {} } = account;
      const identity = { source: sourceOf(account), requestId, origin };
      const local = (end: () => Outcome | Promise<Outcome>): Attempt => {
        const entry = { ...identity, requestId: `${kind.path}/${requestId}` };
        const settle = (outcome: Outcome) => audited(entry, account.isDryRun ? asDryRun(outcome) : outcome);
        return { kind: "local", end: () => whenEnded(end(), settle) };
      };
      if ("problem" in command) return local(() => refusal("MALFORMED", command.problem));
      if ("refused" in command) return local(() => command.refused);
      if ("perform" in command) {
        if (account.isDryRun) return local(() => checked("leases are not tried"));
        return { kind: "local", end: () => command.perform(account, `${kind.path}/${requestId}`) };
      }
      const { operation, missionId: target } = command;
      const request = commander.read(operation, command.request);
      if ("outcome" in request) return local(() => request);
      const receivedMs = clock.nowMs();
      const envelope = { ...identity, ...slotOf(kind), operation, request: { parsed: request }, receivedMs };
      if (account.isDryRun) return local(() => commander.check(envelope));
      return { kind: "command", envelope, request, target };
    },
    begin(attempt, ticket, kept) {
      if (attempt.kind === "command") void run(attempt, ticket, kept);
      else void whenEnded(attempt.end(), (outcome) => finish(ticket, outcome, null));
    },
    restore,
    cancelStarts() {
      cancellations += 1;
    },
  };
}

/** Audits a command that never reaches the dispatcher, which would not be in the audit log otherwise. */
function auditorOf(kind: SlotKind, audit: RefusalAudit) {
  return (
    request: Pick<RefusedRequest, "source" | "requestId" | "origin"> & Partial<RefusedRequest>,
    outcome: Outcome,
  ): Outcome => {
    if (outcome.outcome === "refused") {
      audit.refused({ operation: kind.path, robotId: null, ...request }, outcome);
    }
    return outcome;
  };
}

/** With the fields that the commands of a slot have in the audit log. */
function asRefused({ path }: SlotKind, { source, requestId, operation, origin = {} }: Envelope) {
  return { source, requestId: `${path}/${requestId}`, operation, origin };
}

function slotOf({ path: scope, station }: SlotKind): Pick<Envelope, "scope" | "station"> {
  return station === undefined ? { scope } : { scope, station };
}

/** Marked, so that nobody takes it for the refusal of a real command. */
function asDryRun(outcome: Outcome): Outcome {
  if (outcome.outcome === "checked") return outcome;
  return { ...outcome, message: `dry run: ${outcome.message}` };
}

/** At once if the outcome is known: a result of this turn is shown in it. */
function whenEnded<T>(ended: Outcome | Promise<Outcome>, settle: (outcome: Outcome) => T): T | Promise<T> {
  return ended instanceof Promise ? ended.then(settle) : settle(ended);
}

const forgotten = ending(
  "unknown",
  "OUTCOME_UNKNOWN",
  "the gateway stopped while the command ran, and its journal does not know it any more",
  false,
);
