import type { RefusedRequest } from "../../../contracts/commander.ts";
import type { Command, Source } from "../../../domain/command.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import {
  restartTickets,
  type TakenTicket,
  type TicketState,
  ticketAccepted,
  ticketDone,
} from "../../../domain/ticket.ts";
import { describeError } from "../../../platform/log.ts";
import type { Account } from "../security.ts";
import { commandOf, type Draft } from "./draft.ts";
import type { SlotKind, SlotParts } from "./slot-parts.ts";
import type { TicketBook } from "./ticket-book.ts";
import { within } from "./within.ts";

/** How long a stop waits for the disk before it is sent without a record. */
const STOP_SYNC_MS = 50;

/** What a ticket stands for, made out before it is taken. */
export type Attempt =
  | { readonly kind: "command"; readonly command: Command; readonly target: string | null }
  /** It is no command, or ends without one. */
  | { readonly kind: "local"; end(): Outcome };

/** A ticket that was written in turn, and the state in which it is taken. */
interface Taking {
  readonly ticket: number;
  readonly state: TicketState;
  readonly user: string;
}

/** Brings what a slot was asked for to its end, and shows each step. */
export interface Attempts {
  prepare(draft: Draft, account: Account, requestId: string): Attempt;
  begin(attempt: Attempt, taking: Taking): void;
  /**
   * Ends the command that ran when the gateway stopped. `open` is called when it is known whose ticket AcceptedId is: the end may
   * be long in coming, and a stop need not wait for it. Rejects when what became of it cannot be known.
   */
  restore(taken: TakenTicket, open: () => void): Promise<void>;
  /** Shows again what was final, with the ticket of DoneId, before a restart. */
  recall(final: Outcome): void;
}

export function createAttempts(kind: SlotKind, book: TicketBook, parts: SlotParts): Attempts {
  const { tags } = kind;
  const { clock } = parts;

  /** A stop has taken the slot over: how the command before it ends is no longer shown here. */
  function isReplaced(ticket: number): boolean {
    return book.tickets().taken?.id !== ticket;
  }

  /** Never rejects: whatever happens is an outcome. */
  async function run(
    { command, target }: Extract<Attempt, { kind: "command" }>,
    ticket: number,
    kept: Promise<boolean>,
  ): Promise<void> {
    const isStop = command.effect === "stops";
    const isKept = await (isStop ? within(clock, STOP_SYNC_MS, kept, false) : kept);
    if (!isKept && !isStop) {
      finish(ticket, refusal("JOURNAL_FAILED", `${book.trouble() ?? ""}; nothing was sent`), null);
      return;
    }
    const outcome = await outcomeOf(command, ticket);
    if (outcome !== null) finish(ticket, outcome, target);
  }

  /** Null when the gateway stops before the outcome is known. */
  async function outcomeOf(submitted: Command, ticket: number): Promise<Outcome | null> {
    try {
      return await parts.commander.submit(submitted, parts.signal, (stage) => {
        if (isReplaced(ticket)) return;
        if (stage === "accepted") void book.adopt(ticketAccepted(book.tickets(), ticket));
        tags.showStage(stage);
      });
    } catch (error) {
      // The next start finds the command in the journal.
      if (parts.signal.aborted) return null;
      parts.log.error({ slot: kind.path, cause: describeError(error) }, "a command ended without an outcome");
      return ending("unknown", "INTERNAL_FAULT", "the gateway failed; look at the robot", false);
    }
  }

  function finish(ticket: number, outcome: Outcome, target: string | null): void {
    if (isReplaced(ticket)) return;
    const final = { ...outcome, missionId: outcome.missionId ?? target };
    book.announce(ticket);
    showFinal(final);
    void book.adopt(ticketDone(book.tickets(), ticket), { final });
  }

  function showFinal(final: Outcome): void {
    const mayHaveActed = final.outcome !== "refused" && final.outcome !== "expired";
    if (mayHaveActed && final.missionId !== null) kind.follow(final.missionId);
    tags.showOutcome(final);
  }

  /** What never reaches the dispatcher is in no audit log but by this. */
  function audited(identity: Pick<RefusedRequest, "source" | "requestId" | "origin">, outcome: Outcome) {
    if (outcome.outcome === "refused") {
      parts.ledger.refused({ ...identity, operation: kind.path, robotId: null }, outcome);
    }
    return outcome;
  }

  function commandRequestId(requestId: string): string {
    return `${kind.path}/${requestId}`;
  }

  return {
    prepare(draft, account, requestId) {
      const source: Source = { door: "opcua", name: account.name };
      const { origin = {} } = account;
      const identity = { source, requestId: commandRequestId(requestId), origin };
      const local = (end: () => Outcome): Attempt => ({ kind: "local", end: () => audited(identity, end()) });
      if ("problem" in draft) return local(() => refusal("MALFORMED", draft.problem));
      if ("perform" in draft) return local(() => draft.perform(account));
      const made = commandOf(draft, identity, parts.catalogue, clock.nowMs() + parts.startByMs);
      if ("outcome" in made) return local(() => made);
      return { kind: "command", command: made, target: draft.missionId };
    },
    begin(attempt, { ticket, state, user }) {
      // The outcome of the ticket before stays until this one is accepted: AcceptedId says whose it is.
      const kept = book.adopt(state, { user });
      if (attempt.kind === "local") finish(ticket, attempt.end(), null);
      else void run(attempt, ticket, kept);
    },
    async restore(taken, open) {
      const source: Source = { door: "opcua", name: book.user() ?? "" };
      let isRestarted = false;
      const restart = (wasJournaled: boolean) => {
        if (isRestarted) return;
        isRestarted = true;
        void book.adopt(restartTickets(book.tickets(), wasJournaled, clock.nowMs()));
        open();
      };
      const recall = ({ id, requestId }: Pick<TakenTicket, "id" | "requestId">) =>
        parts.records.recall(source, commandRequestId(requestId), (stage) => {
          // The journal knows it, so AcceptedId is its number while its end is awaited: what is shown with it is its own.
          restart(true);
          if (!isReplaced(id)) tags.showStage(stage);
        });
      const outcome = await recall(taken);
      const wasJournaled = outcome !== null || taken.phase === "running";
      restart(wasJournaled);
      if (wasJournaled) return finish(taken.id, outcome ?? forgotten, null);
      const { replaces } = taken;
      if (replaces === undefined) return;
      const before = await recall(replaces);
      finish(replaces.id, before ?? forgotten, null);
    },
    recall: showFinal,
  };
}

const forgotten = ending(
  "unknown",
  "OUTCOME_UNKNOWN",
  "the gateway stopped while the command ran, and its journal does not know it any more",
  false,
);
