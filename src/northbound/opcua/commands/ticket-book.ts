import { createHash } from "node:crypto";
import type { Outcome } from "../../../domain/outcome.ts";
import {
  LAST_TICKET,
  mustPersist,
  newTickets,
  reissueTicket,
  rotateTicket,
  type TicketState,
} from "../../../domain/ticket.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { SlotRecord, TicketStore } from "./ticket-store.ts";

/**
 * Numbers that may be issued beyond the state that is kept: fewer than a restart skips, so that no number that
 * was ever shown is shown again for another command.
 */
const NUMBERS_AHEAD = 48;
const KEEP_AFTER = 32;

/** The tickets of one slot, shown and kept. */
export interface TicketBook {
  tickets(): TicketState;
  /** What was kept before this start; null for a slot that never was, or whose record cannot be read. */
  readonly record: SlotRecord | null;
  /** Whose ticket was taken last. */
  user(): string | null;
  /** Why the slot takes nothing but stops: its tickets cannot be kept. Null when they can. */
  trouble(): string | null;
  /** Whether numbers may be shown at all. False while what is kept is too far behind; then all that were shown are void. */
  mayIssue(): boolean;
  /**
   * Shows a state, and keeps it where that matters. Resolves when it is kept, with whether it is; never
   * rejects. `changed` is what else is kept with it from now on.
   */
  adopt(next: TicketState, changed?: Partial<Omit<SlotRecord, "tickets">>): Promise<boolean>;
  /**
   * Shows this ticket as AcceptedId, and keeps nothing: for one that ends without the journal. What is shown from
   * now on is its own, and nobody may take it for the end of the ticket before.
   */
  announce(ticket: number): void;
  /** Replaces an unused ticket that is old; tries again to keep what could not be kept. */
  tick(): void;
}

interface BookParts {
  readonly tickets: TicketStore;
  readonly epoch: string;
  readonly clock: Clock;
}

/** Opens the book of the slot at `path`; `show` is called with every state. */
export function openTicketBook(
  path: string,
  parts: BookParts,
  show: (tickets: TicketState) => void,
): TicketBook {
  const { clock } = parts;
  const loaded = load(parts.tickets, path);
  let tickets = loaded.record?.tickets ?? firstTickets(path, parts.epoch, clock.nowMs());
  let user: string | null = loaded.record?.user ?? null;
  let final: Outcome | null = loaded.record?.final ?? null;
  let kept: TicketState | null = loaded.record?.tickets ?? null;
  let trouble = loaded.unreadable;
  let saving = 0;

  function ahead(state: TicketState): number {
    return kept === null ? 0 : (state.nextId - kept.nextId + LAST_TICKET) % LAST_TICKET;
  }

  function mayIssue(): boolean {
    return ahead(tickets) < NUMBERS_AHEAD;
  }

  async function keep(): Promise<boolean> {
    // What cannot be read is not written over: it may be all that is left for somebody to mend.
    if (loaded.unreadable !== null) return false;
    const record: SlotRecord = { tickets, user, final };
    saving += 1;
    try {
      await parts.tickets.save(path, record);
      const wasOpen = mayIssue();
      kept = record.tickets;
      if (trouble !== null && kept === tickets) reopen();
      else if (!wasOpen && mayIssue()) reopen();
      return true;
    } catch (error) {
      trouble = `the slot's tickets cannot be kept: ${reasonOf(error)}`;
      return false;
    } finally {
      saving -= 1;
    }
  }

  /** Numbers that were written in vain must not count now, when the writer may have gone on without them. */
  function reopen(): void {
    if (kept === tickets) trouble = null;
    void adopt(reissueTicket(tickets, clock.nowMs()));
  }

  function adopt(next: TicketState, changed: Partial<Omit<SlotRecord, "tickets">> = {}): Promise<boolean> {
    const before = tickets;
    tickets = next;
    user = changed.user === undefined ? user : changed.user;
    final = changed.final === undefined ? final : changed.final;
    show(next);
    const isDue = mustPersist(before, next) || ahead(next) >= KEEP_AFTER;
    return isDue ? keep() : Promise.resolve(true);
  }

  // From here on a restart knows that the slot has lived, and which numbers it may have shown.
  if (loaded.record === null) void keep();
  return {
    tickets: () => tickets,
    record: loaded.record,
    user: () => user,
    trouble: () => trouble,
    mayIssue,
    adopt,
    announce(ticket) {
      if (tickets.acceptedId !== ticket) show({ ...tickets, acceptedId: ticket });
    },
    tick() {
      const next = mayIssue() ? rotateTicket(tickets, clock.nowMs()) : tickets;
      if (next !== tickets) void adopt(next);
      if (trouble !== null && saving === 0) void keep();
    },
  };
}

function load(
  store: TicketStore,
  path: string,
): { readonly record: SlotRecord | null; readonly unreadable: string | null } {
  try {
    return { record: store.load(path), unreadable: null };
  } catch (error) {
    return { record: null, unreadable: `the slot's tickets cannot be read: ${reasonOf(error)}` };
  }
}

/** With its causes: how much room a full disk has, and how much is needed, is in the innermost. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/**
 * Where the store knows nothing, a number that an earlier life of the slot showed may still be written again and
 * again: so each life begins somewhere else.
 */
function firstTickets(path: string, epoch: string, nowMs: number): TicketState {
  const chance = createHash("sha256").update(`${epoch} ${path}`).digest().readUInt32BE();
  return { ...newTickets(epoch, nowMs), nextId: 1 + (chance % LAST_TICKET) };
}
